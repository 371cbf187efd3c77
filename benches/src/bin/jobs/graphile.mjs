// The same work with graphile-worker: as it comes, and with its local queue of 500.
import { run, makeWorkerUtils, Logger } from "graphile-worker";

const [connectionString, count, list] = process.argv.slice(2);
const jobs = Number(count);
const logger = new Logger(() => () => {});
const utils = await makeWorkerUtils({ connectionString, logger });
await utils.migrate();
const say = (name, value, unit) => console.log(`figure ${name} ${value.toFixed(value < 1 ? 4 : 2)} ${unit}`);
const cpu = () => { const used = process.cpuUsage(); return used.user + used.system; };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function fill() {
  const began = performance.now();
  for (let part = 0; part < jobs / 1000; part += 1) {
    await utils.addJobs(Array.from({ length: 1000 }, () => ({ identifier: "trivial", payload: { n: 1 } })));
  }
  return jobs / ((performance.now() - began) / 1000);
}

async function drain(concurrentJobs, preset) {
  const filled = await fill();
  let done = 0, finish;
  const all = new Promise((resolve) => { finish = resolve; });
  const [began, used] = [performance.now(), cpu()];
  const runner = await run({
    connectionString, concurrentJobs, concurrency: concurrentJobs, logger, noHandleSignals: true, pollInterval: 1000, preset,
    taskList: { trivial: () => { done += 1; if (done >= jobs) finish(); } },
  });
  await all;
  const left = () => utils.withPgClient((client) => client.query("select 1 from graphile_worker.jobs limit 1"));
  while ((await left()).rowCount > 0) await pause(1);
  const seconds = (performance.now() - began) / 1000;
  const each = (cpu() - used) / 1000 / jobs;
  await runner.stop();
  return { filled, rate: jobs / seconds, each };
}

for (const concurrency of list.split(",").map(Number)) {
  const plain = await drain(concurrency);
  say(`graphile.rate_c${concurrency}`, plain.rate, "jobs/s");
  say(`graphile.cpu_ms_c${concurrency}`, plain.each, "ms");
  const local = await drain(concurrency, { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } });
  say(`graphile_local_queue.rate_c${concurrency}`, local.rate, "jobs/s");
  say(`graphile_local_queue.cpu_ms_c${concurrency}`, local.each, "ms");
  if (concurrency === 24) say("graphile.enqueue_batch_rate", plain.filled, "jobs/s");
}

const one = performance.now();
for (let n = 0; n < 1000; n += 1) await utils.addJob("unheard", { n });
say("graphile.enqueue_single_rate", 1000 / ((performance.now() - one) / 1000), "jobs/s");

let began;
const runner = await run({
  connectionString, concurrency: 2, logger, noHandleSignals: true, pollInterval: 1000,
  taskList: { timed: () => began(performance.now()) },
});
await pause(500);
const times = [];
for (let n = 0; n < 200; n += 1) {
  const beginning = new Promise((resolve) => { began = resolve; });
  const asked = performance.now();
  await utils.addJob("timed", {});
  times.push((await beginning) - asked);
  await pause(25);
}
times.sort((a, b) => a - b);
say("graphile.pickup_p50_ms", times[100], "ms");
say("graphile.pickup_p99_ms", times[198], "ms");
await runner.stop();
await utils.release();
process.exit(0);
