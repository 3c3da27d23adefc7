// The dumbbell of dumbbell.py in ns-3.37, for comparison. Build:
//   g++ -O2 -std=c++17 dumbbell.cc -o dumbbell $(for m in applications traffic-control point-to-point internet network stats core; do echo -lns3-$m; done)
// Prints: goodput of each flow (Gb/s), drops at the queue, marks, mean queue (packets), completion times (us).

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <vector>

using namespace ns3;

static Ptr<QueueDisc> g_disc;
static Ptr<Queue<Packet>> g_queue;
static double g_area = 0, g_samples = 0;
static std::vector<uint64_t> g_received, g_base;
static std::vector<double> g_done_us;
static uint64_t g_size = 0, g_refused = 0;

// Without a queue disc the layer above a full device queue drops what comes.
static void Refused(Ptr<const Packet>) { ++g_refused; }

static uint32_t Waiting() { return g_queue->GetNPackets() + (g_disc ? g_disc->GetNPackets() : 0); }

static void Sample()
{
    g_area += Waiting();
    g_samples += 1;
    Simulator::Schedule(MicroSeconds(10), &Sample);
}

static void Received(uint32_t flow, Ptr<const Packet> packet, const Address&)
{
    g_received[flow] += packet->GetSize();
    if (g_size && g_received[flow] >= g_size && g_done_us[flow] == 0)
        g_done_us[flow] = Simulator::Now().GetSeconds() * 1e6;
}

int main(int argc, char** argv)
{
    std::string congestion = "TcpNewReno", rate = "10Gbps";
    uint32_t flows = 1, limit = 100, mark = 0;
    double loss = 0, duration = 1, warmup = 0, spacing = 0.001, delay_us = 40;
    bool sack = true, hystart = false;
    CommandLine command;
    command.AddValue("congestion", "TcpLinuxReno, TcpNewReno, TcpCubic or TcpDctcp", congestion);
    command.AddValue("rate", "of the bottleneck", rate);
    command.AddValue("delay", "of the bottleneck, us; each host link has 5 us", delay_us);
    command.AddValue("flows", "number of long flows", flows);
    command.AddValue("limit", "queue, packets", limit);
    command.AddValue("mark", "marking threshold, packets; 0: drop-tail", mark);
    command.AddValue("loss", "Bernoulli loss after the bottleneck", loss);
    command.AddValue("size", "bytes of each flow; 0: long", g_size);
    command.AddValue("duration", "seconds", duration);
    command.AddValue("warmup", "seconds that do not count", warmup);
    command.AddValue("spacing", "seconds between starts", spacing);
    command.AddValue("sack", "selective acknowledgements", sack);
    command.AddValue("hystart", "HyStart of ns-3's CUBIC", hystart);
    command.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + congestion));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(hystart));
    if (congestion == "TcpDctcp")
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));

    NodeContainer senders, receivers, switches;
    senders.Create(flows);
    receivers.Create(flows);
    switches.Create(2);
    InternetStackHelper stack;
    stack.InstallAll();

    PointToPointHelper edge, core;
    edge.SetDeviceAttribute("DataRate", StringValue("40Gbps"));
    edge.SetChannelAttribute("Delay", TimeValue(MicroSeconds(5)));
    edge.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    core.SetDeviceAttribute("DataRate", StringValue(rate));
    core.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay_us * 1000)));
    core.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(mark ? "1p" : std::to_string(limit) + "p"));

    NetDeviceContainer bottleneck = core.Install(switches.Get(0), switches.Get(1));
    g_queue = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0))->GetQueue();
    TrafficControlHelper red;
    if (mark) {
        // With weight 1 and equal thresholds RED marks by the queue's length at that moment.
        Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
        Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
        red.SetRootQueueDisc("ns3::RedQueueDisc", "MinTh", DoubleValue(mark - 0.5), "MaxTh", DoubleValue(mark),
                             "QW", DoubleValue(1), "Gentle", BooleanValue(false), "MeanPktSize", UintegerValue(1500),
                             "MaxSize", StringValue(std::to_string(limit) + "p"), "LinkBandwidth", StringValue(rate));
        g_disc = red.Install(bottleneck.Get(0)).Get(0);
    }
    if (loss > 0) {
        Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        DynamicCast<PointToPointNetDevice>(bottleneck.Get(1))->SetReceiveErrorModel(errors);
    }

    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    TrafficControlHelper none;
    auto assign = [&](NetDeviceContainer devices, bool keep) {
        Ipv4InterfaceContainer given = address.Assign(devices);
        address.NewNetwork();
        none.Uninstall(devices.Get(1)); // ns-3 puts an FqCoDel in front of every device with an address
        if (!keep)
            none.Uninstall(devices.Get(0));
        return given;
    };
    assign(bottleneck, mark > 0);
    std::vector<Ipv4Address> sinks;
    for (uint32_t flow = 0; flow < flows; ++flow) {
        assign(edge.Install(senders.Get(flow), switches.Get(0)), false);
        sinks.push_back(assign(edge.Install(receivers.Get(flow), switches.Get(1)), false).GetAddress(0));
    }
    switches.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&Refused));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    g_received.assign(flows, 0);
    g_base.assign(flows, 0);
    g_done_us.assign(flows, 0);
    for (uint32_t flow = 0; flow < flows; ++flow) {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        ApplicationContainer at = sink.Install(receivers.Get(flow));
        at.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Received, flow));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(sinks[flow], 5000));
        bulk.SetAttribute("MaxBytes", UintegerValue(g_size));
        bulk.SetAttribute("SendSize", UintegerValue(1448 * 64));
        bulk.Install(senders.Get(flow)).Start(Seconds(flow * spacing));
    }
    Simulator::Schedule(Seconds(warmup), [] {
        g_base = g_received;
        Sample();
    });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();

    double sum = 0, squares = 0;
    printf("goodput");
    for (uint32_t flow = 0; flow < flows; ++flow) {
        double gbps = (g_received[flow] - g_base[flow]) * 8e-9 / (duration - warmup);
        sum += gbps;
        squares += gbps * gbps;
        printf(" %.4f", gbps);
    }
    uint64_t drops = g_queue->GetTotalDroppedPackets() + g_refused;
    uint64_t marks = 0;
    if (g_disc) {
        drops = g_disc->GetStats().nTotalDroppedPackets;
        marks = g_disc->GetStats().nTotalMarkedPackets;
    }
    printf("\nsum %.4f jain %.4f drops %lu marks %lu queue %.2f\n", sum, sum * sum / (flows * squares), (unsigned long)drops,
           (unsigned long)marks, g_area / std::max(g_samples, 1.0));
    if (g_size)
        for (double done : g_done_us)
            printf("done_us %.2f\n", done);
    Simulator::Destroy();
}
