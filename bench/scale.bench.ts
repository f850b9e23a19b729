import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { definitions } from '@tartan/api/crds';
import { customResourceDefinitions } from '@tartan/kube';
import { loadHostSettings, parseFlags } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { artifactFlags, connect, freePort, providerFlags, untilServed } from '@tartan/sim-fleet';
import { buildManager, nodeFlags } from '@tartan/tools-build';
import { formatKubeconfig, startControlPlane } from '@tartan/tools-kubernetes';
import type { Figure } from './figure.ts';
import { createForeignPods } from './foreign-pods/pods.ts';
import { startTcpProxy } from './foreign-pods/tcp-proxy.ts';
import { type MeasuredProcess, startMeasured } from './measured-process.ts';
import { type AuditedRequest, createAudit, summary, withoutWatches, writesIn } from './scale/audit.ts';
import { startHeartbeats } from './scale/heartbeats.ts';
import { type Scrape, scrape } from './scale/manager-metrics.ts';
import { buildPeer } from './scale/peer.ts';
import { cloneServers, nameOfClone, writeFleet } from './settled-fleet/clone.ts';
import { startLightScaleway } from './settled-fleet/scaleway.ts';
import { captureFleet } from './settled-fleet/template.ts';
import { sizeFrom } from './size.ts';

/**
 * What a large settled fleet costs, against a manager in Go on controller-runtime (`scale/peer`), on a real API server. The machines are
 * clones of one that a simulated fleet has brought up, so that the manager finds nothing to do. Their Nodes send heartbeats from another
 * process; Scaleway is a stand-in that only answers reads.
 *
 * Our manager runs first, the peer after it: the peer writes the status of every machine. Our manager is the program that ships, started
 * as in the image and with the flags of the chart, except that it leads without election: it has to survive the restart of the API server.
 * Requests are counted by the audit log of the API server, without watches.
 */

export const size = {
  machines: sizeFrom('TARTAN_BENCH_MACHINES', 5_000),
  foreignPods: sizeFrom('TARTAN_BENCH_PODS', 20_000),
  /** By default the interval of the regular resync, so that each machine is passed once in it. */
  settledSeconds: sizeFrom('TARTAN_BENCH_SETTLED_SECONDS', 300),
};

/** A folder for the logs and CPU profiles of our manager. The profiler costs CPU and memory: only to look for where they go. */
const profiles = process.env['TARTAN_BENCH_PROFILES'];

const patienceMs = 15 * 60_000;
const calmMs = 10_000;
const users = { ours: 'tartan-manager', peer: 'peer-manager' } as const;
const release = '--release-id=bench';

interface Measured {
  /** From the start of the process until every machine was passed once, in seconds. */
  readonly coldStart: number;
  /** MB. */
  readonly peak: number;
  /** CPU seconds of a settled minute. */
  readonly cpu: number;
  /** Requests of a settled minute. */
  readonly requests: number;
}

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const { machines, foreignPods } = size;
  const folder = await mkdtemp(join(tmpdir(), 'tartan-bench-'));
  const stops: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const since = stopwatch();
  try {
    const peerProgram = await buildPeer(folder);
    say(`the peer is built after ${since()} s`);
    const program = await buildManager(join(folder, 'manager'));
    const template = await captureFleet(join(folder, 'fleet'), [release]);
    say(`a machine has been brought up in a simulated fleet after ${since()} s`);

    const audit = await createAudit(folder, Object.values(users));
    const plane = await startControlPlane({
      // No controller creates service accounts here, and Pods need none.
      apiServerFlags: ['--disable-admission-plugins=ServiceAccount', ...audit.flags],
    });
    stops.push(plane.stop);
    const { client, transport } = await connect(plane.adminKubeconfigPath);
    stops.push(transport.close);
    const kinds = [...definitions, ...coreDefinitions()];
    for (const definition of kinds) await client.create(customResourceDefinitions, definition);
    await untilServed(client, kinds);

    const flags = [...providerFlags, ...chartFlags, ...(await artifactFlags(folder, { version: '0.1.0' }))];
    const parsed = parseFlags(flags, {});
    if (!('options' in parsed)) throw new Error(JSON.stringify(parsed));
    const settings = await loadHostSettings(parsed.options);
    await writeFleet({ client, template, machines, settings });
    await createForeignPods(client, foreignPods);
    say(`${machines} machines and ${foreignPods} foreign Pods are there after ${since()} s`);

    const scaleway = await startLightScaleway({ servers: cloneServers(template, machines), keys: template.keys });
    stops.push(scaleway.stop);
    const names = Array.from({ length: machines }, (_, index) => nameOfClone(index));
    const heartbeats = await startHeartbeats(plane.adminKubeconfigPath, names);
    stops.push(heartbeats.stop);
    const line = await startTcpProxy(Number(new URL(plane.url).port));
    stops.push(line.close);

    const kubeconfigOf = async (user: string, url: string): Promise<string> => {
      const file = join(folder, `${user}.kubeconfig`);
      const { certificate: clientCertificate, key: clientKey } = await plane.issue({
        user,
        groups: ['system:masters'],
      });
      const { caCertificate } = plane;
      await writeFile(file, formatKubeconfig({ url, caCertificate, clientCertificate, clientKey }), { mode: 0o600 });
      return file;
    };
    const ourKubeconfig = await kubeconfigOf(users.ours, `https://127.0.0.1:${line.port}`);
    const startOurs = async (name: string): Promise<{ process: MeasuredProcess; port: number }> => {
      const port = await freePort();
      const argv = [
        ...nodeFlags,
        ...(profiles === undefined
          ? []
          : ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}.cpuprofile`]),
        program,
        ...flags,
        `--kubeconfig=${ourKubeconfig}`,
        '--leader-elect=false',
        `--metrics-bind-address=127.0.0.1:${port}`,
      ];
      const env = { ...scalewayCredentials, SCW_API_URL: scaleway.url };
      const started = await startMeasured({
        program: process.execPath,
        argv,
        env,
        log: join(profiles ?? folder, `${name}.log`),
      });
      stops.push(started.kill);
      return { process: started, port };
    };
    /** A minute in which nothing is to do, as an average. */
    const settledMinute = async (
      process: MeasuredProcess,
      user: string,
    ): Promise<Pick<Measured, 'cpu' | 'requests'>> => {
      await heartbeats.taken();
      await audit.taken(user);
      const minutes = size.settledSeconds / 60;
      const before = process.cpuSeconds();
      await Promise.race([sleep(size.settledSeconds * 1000), process.broken]);
      const cpu = (process.cpuSeconds() - before) / minutes;
      const requests = withoutWatches(await audit.taken(user));
      const { done, wanted } = await heartbeats.taken();
      say(
        `settled for ${size.settledSeconds} s: ${cpu.toFixed(1)} s CPU a minute; ${requests.length} requests (${summary(requests)}); ${done} of ${wanted} heartbeats`,
      );
      return { cpu, requests: requests.length / minutes };
    };

    // What differs between the simulated fleet and this one is written once, and not measured.
    const settling = await startOurs('settling');
    await Promise.race([untilPassed(settling.port), settling.process.broken]);
    for (let writes = -1; writes !== 0; ) {
      await sleep(calmMs);
      writes = writesIn(await audit.taken(users.ours)).length;
    }
    await settling.process.stop();
    await audit.taken(users.ours);
    say(`our manager has nothing to do after ${since()} s`);

    const coldOurs = stopwatch();
    const ours = await startOurs('ours');
    await Promise.race([untilPassed(ours.port), ours.process.broken]);
    const oursColdStart = coldOurs();
    const atStart = await audit.taken(users.ours);
    const idleWrites = writesIn(atStart).length;
    say(
      `ours: cold start in ${oursColdStart} s, ${ours.process.cpuSeconds().toFixed(1)} s CPU, ${ours.process.peak().toFixed(0)} MB`,
    );
    say(`  requests: ${summary(atStart)}`);
    const oursSettled = await settledMinute(ours.process, users.ours);
    const oursPeak = ours.process.peak();
    line.cut();
    await plane.restartApiServer();
    await audit.taken(users.ours);
    line.mend();
    await Promise.race([untilRelisted(atStart, () => audit.taken(users.ours)), ours.process.broken]);
    await sleep(calmMs);
    const relistedPeak = ours.process.peak();
    say(`ours: ${oursPeak.toFixed(0)} MB at most; ${relistedPeak.toFixed(0)} MB after everything was listed again`);
    await ours.process.stop();

    const passed = Promise.withResolvers<void>();
    const coldPeer = stopwatch();
    const peer = await startMeasured({
      program: peerProgram,
      argv: [`--machines=${machines}`],
      env: { KUBECONFIG: await kubeconfigOf(users.peer, plane.url), HOME: folder },
      log: join(folder, 'peer.log'),
      onOutput: (text) => {
        if (text.includes('every machine passed')) passed.resolve();
      },
    });
    stops.push(peer.kill);
    await Promise.race([passed.promise, peer.broken]);
    const peerColdStart = coldPeer();
    say(`peer: cold start in ${peerColdStart} s, ${peer.cpuSeconds().toFixed(1)} s CPU, ${peer.peak().toFixed(0)} MB`);
    say(`  requests: ${summary(await audit.taken(users.peer))}`);
    const peerSettled = await settledMinute(peer, users.peer);
    const peerPeak = peer.peak();
    await peer.stop();

    const beside = `with ${machines} machines and ${foreignPods} foreign Pods`;
    return [
      {
        what: `cold start until every machine was passed once, ${beside}, against the peer`,
        value: oursColdStart / peerColdStart,
        unit: 'ratio',
        goal: '<= 1',
      },
      { what: `peak memory ${beside}`, value: oursPeak, unit: 'MB', goal: '<= 220' },
      { what: 'peak memory against the peer', value: oursPeak / peerPeak, unit: 'ratio', goal: '<= 1' },
      {
        what: 'peak memory after all watches were cut and everything listed again, against the peak before',
        value: relistedPeak / oursPeak,
        unit: 'ratio',
        goal: '<= 1.1',
      },
      {
        what: 'CPU of a settled minute against the peer',
        value: oursSettled.cpu / peerSettled.cpu,
        unit: 'ratio',
        goal: '<= 1.5',
      },
      {
        what: 'requests of a settled minute for 50 machines',
        value: (oursSettled.requests / machines) * 50,
        unit: 'requests',
        goal: '<= 1',
      },
      {
        what: 'writes of a cold start for 50 machines, with nothing to do',
        value: (idleWrites / machines) * 50,
        unit: 'requests',
        goal: '<= 1',
      },
    ];
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
};

/** As the chart sets them for a fleet with default values. */
const chartFlags = [
  '--machine-namespaces=default',
  '--log-level=info',
  '--adopt-pool-prefixes=tuist-pool-',
  '--orphan-reclaim-zones=fr-par-1',
  release,
];

/** The stand-in accepts any. */
const scalewayCredentials = {
  SCW_ACCESS_KEY: 'SCWTARTANSIMULATED00',
  SCW_SECRET_KEY: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  SCW_DEFAULT_PROJECT_ID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
} as const;

const stopwatch = (): (() => number) => {
  const began = performance.now();
  return () => Math.round((performance.now() - began) / 100) / 10;
};

const pollUntil = async (what: string, pauseMs: number, holds: () => Promise<boolean>): Promise<void> => {
  const until = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`waited in vain until ${what}`);
    await sleep(pauseMs);
  }
};

/** As many passes as machines, and none waits: so none was left out. */
const hasPassedAll = (seen: Scrape): boolean =>
  seen.sum('controller_runtime_reconcile_total', { controller: 'machine' }) >= size.machines &&
  seen.sum('workqueue_depth', { name: 'machine' }) === 0;

const untilPassed = (port: number): Promise<void> =>
  pollUntil('every machine was passed once', 500, async () => {
    const seen = await scrape(port);
    return seen !== undefined && hasPassedAll(seen);
  });

/** Waits until each kind that was listed at the start was listed again. */
const untilRelisted = (atStart: readonly AuditedRequest[], taken: () => Promise<AuditedRequest[]>): Promise<void> => {
  const isList = ({ verb }: AuditedRequest): boolean => verb === 'list';
  const missing = new Set(atStart.filter(isList).map(({ resource }) => resource));
  return pollUntil('everything was listed again', 1000, async () => {
    for (const { resource } of (await taken()).filter(isList)) missing.delete(resource);
    return missing.size === 0;
  });
};
