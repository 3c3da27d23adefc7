/* A path between two TUN devices of two network namespaces: a drop-tail queue, a rate, a delay and Bernoulli loss, one
 * way; only the delay on the way back. It stands in for tc-netem where the kernel has none.
 *
 *   cc -O2 path.c -o path && ./path NAMESPACE_A NAMESPACE_B RATE_MBPS DELAY_US LIMIT LOSS SEED [BLACKHOLE_FILE]
 *
 * Packets from A (10.99.0.1) to B (10.99.0.2) pass the bottleneck. Each costs its IP length and 38 bytes of Ethernet
 * (header 14, check sequence 4, preamble 8, gap 12). While BLACKHOLE_FILE exists, nothing passes from A to B. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 65536
struct packet { int64_t out_ns; int bytes; uint8_t data[1600]; };
struct pipe { struct packet *ring; unsigned head, tail, limit; int64_t free_ns, delay_ns; double ns_per_byte, loss; int to; };
static volatile int done;
static void stop(int signal) { (void)signal; done = 1; }
static int64_t now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }

static int tun(const char *space) {
    char path[100];
    snprintf(path, sizeof path, "/run/netns/%s", space);
    int netns = open(path, O_RDONLY), fd;
    if (netns < 0 || setns(netns, CLONE_NEWNET) < 0) { perror(path); exit(1); }
    struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
    strcpy(request.ifr_name, "path");
    if ((fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK)) < 0 || ioctl(fd, TUNSETIFF, &request) < 0) { perror("tun"); exit(1); }
    return fd;
}

int main(int argc, char **argv) {
    if (argc < 8) return 2;
    int64_t delay_ns = atof(argv[4]) * 1000;
    int fd[2] = { tun(argv[1]), tun(argv[2]) };
    struct pipe pipes[2] = {
        { .limit = atoi(argv[5]), .delay_ns = delay_ns, .ns_per_byte = 8000.0 / atof(argv[3]), .loss = atof(argv[6]), .to = fd[1] },
        { .limit = SLOTS - 1, .delay_ns = delay_ns, .to = fd[0] },
    };
    /* What waits for its rate, of each packet when it starts on the wire: the queue. */
    int64_t *starts = calloc(SLOTS, sizeof *starts);
    unsigned waiting_head = 0, waiting_tail = 0;
    for (int way = 0; way < 2; way++) pipes[way].ring = calloc(SLOTS, sizeof(struct packet));
    srand48(atol(argv[7]));
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    long passed = 0, full = 0, lost = 0;
    double queue = 0;
    puts("ready");
    fflush(stdout);
    while (!done) {
        int64_t now = now_ns(), next = now + 1000000000;
        for (int way = 0; way < 2; way++) {
            struct pipe *p = &pipes[way];
            for (int count = 0; count < 64; count++) {
                struct packet *slot = &p->ring[p->tail % SLOTS];
                if (p->tail - p->head >= SLOTS - 1) break;
                slot->bytes = read(fd[way], slot->data, sizeof slot->data);
                if (slot->bytes <= 0) break;
                if (slot->data[0] >> 4 != 4) continue;
                now = now_ns();
                if (p->free_ns < now) p->free_ns = now;
                if (way == 0) {
                    while (waiting_head != waiting_tail && starts[waiting_head % SLOTS] <= now) waiting_head++;
                    queue += waiting_tail - waiting_head;
                    passed++;
                    if (waiting_tail - waiting_head >= p->limit) { full++; continue; }
                    starts[waiting_tail++ % SLOTS] = p->free_ns;
                }
                p->free_ns += (slot->bytes + 38) * p->ns_per_byte;
                if ((p->loss > 0 && drand48() < p->loss) || (way == 0 && argc > 8 && access(argv[8], F_OK) == 0)) { lost++; continue; }
                slot->out_ns = p->free_ns + p->delay_ns;
                p->tail++;
            }
            while (p->head != p->tail && p->ring[p->head % SLOTS].out_ns <= now_ns()) {
                struct packet *slot = &p->ring[p->head++ % SLOTS];
                if (write(p->to, slot->data, slot->bytes) < 0) perror("write");
            }
            if (p->head != p->tail && p->ring[p->head % SLOTS].out_ns < next) next = p->ring[p->head % SLOTS].out_ns;
        }
        struct pollfd both[2] = { { .fd = fd[0], .events = POLLIN }, { .fd = fd[1], .events = POLLIN } };
        int64_t left = next - now_ns();
        struct timespec wait = { left / 1000000000, left % 1000000000 };
        if (left > 0) ppoll(both, 2, &wait, NULL);
    }
    printf("offered %ld full %ld lost %ld mean_queue_seen %.2f\n", passed, full, lost, queue / (passed ? passed : 1));
}
