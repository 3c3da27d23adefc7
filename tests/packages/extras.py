"""The features of the extras, as a user who has installed them writes it: scripts/check-wheel --extras runs it."""

import hitless as hl
from hitless.gym import LinkProtection

scenario = hl.example("linkguardian-testbed").with_("flows[0].count", 200)
run = scenario.run(seed=1)
pandas, arrow = run.messages.to_pandas(), run.messages.to_arrow()
if not len(pandas) == arrow.num_rows == run.messages.height == 200:
    raise SystemExit("a table has other rows as pandas or Arrow")
if pandas["fct_us"].tolist() != run.messages["fct_us"].to_list():
    raise SystemExit("a column has other values as pandas")

environment = LinkProtection(scenario)
environment.reset(seed=1)
reward = environment.step(environment.action_space.sample())[1]
print("Gymnasium: a reward of", reward)

here = hl.sweep(scenario, {"link[0].loss.rate": [1e-3, 1e-2]}, seeds=2, out="here", progress=False)
with hl.RayExecutor() as ray:
    on_ray = hl.sweep(scenario, {"link[0].loss.rate": [1e-3, 1e-2]}, seeds=2, out="ray", progress=False, executor=ray)
if not here.rows.equals(on_ray.rows):
    raise SystemExit("Ray gives other rows")
print(on_ray.intervals("mean FCT"))
