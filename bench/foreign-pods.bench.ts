import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { metricNames } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import { customResourceDefinitions } from '@tartan/kube';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { connect, freePort, providerFlags, startMacPool, untilServed } from '@tartan/sim-fleet';
import { buildManager } from '@tartan/tools-build';
import { startControlPlane } from '@tartan/tools-kubernetes';
import type { Figure } from './figure.ts';
import { addMacThatHoldsPod, averageSize, createForeignPods, touchForeignPods } from './foreign-pods/pods.ts';
import { startTcpProxy } from './foreign-pods/tcp-proxy.ts';
import { startManager } from './roll-memory/manager.ts';
import { lightSoftware } from './roll-memory/software.ts';

/**
 * What the manager needs in a cluster full of foreign Pods: at start, after all watches were cut and resumed, and after the API server has
 * lost its watch history, so that everything is listed again. The API server is real; the manager is the program that ships, in its own
 * process. Its metrics of Pods on Macs show when it has caught up.
 */

const podCount = 20_000;
const touched = 1_000;
const relists = 2;
const patienceMs = 180_000;

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-bench-'));
  const stops: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const program = await buildManager(join(folder, 'manager'));
    // No controller creates service accounts here, and Pods need none.
    const plane = await startControlPlane({ apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] });
    stops.push(plane.stop);
    const { client, transport } = await connect(plane.adminKubeconfigPath);
    stops.push(transport.close);
    const kinds = [...definitions, ...coreDefinitions()];
    for (const definition of kinds) await client.create(customResourceDefinitions, definition);
    await untilServed(client, kinds);
    const macs = await startMacPool({ folder: join(folder, 'macs'), pace: 0.01 });
    stops.push(macs.stop);

    const began = performance.now();
    await createForeignPods(client, podCount);
    const size = await averageSize(client);
    say(`${podCount} Pods of ${(size / 1000).toFixed(1)} KB are there after ${secondsSince(began)} s`);
    let macCount = 0;
    const addMac = (): Promise<void> => addMacThatHoldsPod(client, `mac-${++macCount}`);
    await addMac();

    const line = await startTcpProxy(Number(new URL(plane.url).port));
    stops.push(line.close);
    const kubeconfig = join(folder, 'kubeconfig');
    const direct = await readFile(plane.adminKubeconfigPath, 'utf8');
    await writeFile(kubeconfig, direct.replace(plane.url, `https://127.0.0.1:${line.port}`), { mode: 0o600 });
    const log = join(folder, 'manager.log');
    const software = await lightSoftware(folder);
    const metricsPort = await freePort();
    const manager = await startManager(
      program,
      [
        ...providerFlags,
        ...software,
        `--kubeconfig=${kubeconfig}`,
        // A leader exits when it cannot renew its lease, and then starts anew: this one must survive the restarts.
        '--leader-elect=false',
        `--metrics-bind-address=127.0.0.1:${metricsPort}`,
      ],
      macs.environment,
      log,
    );
    stops.push(manager.kill);
    const caughtUp = (): Promise<void> =>
      Promise.race([untilShown(`http://127.0.0.1:${metricsPort}/metrics`, macCount), manager.broken]);
    const measure = async (what: string, work: () => Promise<void>): Promise<number> => {
      const since = performance.now();
      await work();
      await caughtUp();
      const peak = manager.peak();
      say(`${what}: ${peak.toFixed(0)} MB resident at most so far, ${secondsSince(since)} s`);
      return peak;
    };

    const atStart = await measure('Started', async () => {});
    const resumed = await measure(`Watches cut, ${touched} Pods written, watches resumed`, async () => {
      line.cut();
      await touchForeignPods(client, touched, 'while the line is cut');
      await addMac();
      line.mend();
    });
    let relisted = Number.NaN;
    for (let time = 1; time <= relists; time += 1)
      relisted = await measure('Watches cut, API server restarted, everything listed anew', async () => {
        line.cut();
        // The restarted server has no watch history.
        await touchForeignPods(client, 10, `restart ${time}`);
        await addMac();
        await plane.restartApiServer();
        line.mend();
      });
    const anew = podListsIn(await readFile(log, 'utf8'));
    const goal = '<= 200';
    return [
      { what: `peak memory of the manager at start beside ${podCount} foreign Pods`, value: atStart, unit: 'MB', goal },
      { what: 'peak memory after every watch was cut and resumed', value: resumed, unit: 'MB', goal },
      { what: 'peak memory after every watch was cut and everything listed anew', value: relisted, unit: 'MB', goal },
      { what: 'times that Pods were listed anew', value: anew, unit: 'lists', goal: `>= ${relists}` },
      { what: 'size of a foreign Pod', value: size / 1000, unit: 'KB', goal: '>= 11' },
    ];
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
};

const secondsSince = (began: number): string => ((performance.now() - began) / 1000).toFixed(0);

/** Waits until the manager has seen a Pod on each of so many Macs. */
const untilShown = async (url: string, macs: number): Promise<void> => {
  const until = performance.now() + patienceMs;
  for (;;) {
    const text = await fetch(url).then(
      (answer) => answer.text(),
      () => '',
    );
    const shown = text.split('\n').filter((line) => line.startsWith(`${metricNames.podsTerminating}{`)).length;
    if (shown >= macs) return;
    if (performance.now() > until) throw new Error(`the manager shows Pods on ${shown} Macs instead of ${macs}`);
    await sleep(250);
  }
};

const podListsIn = (log: string): number =>
  log.split('\n').filter((line) => line.includes('"resource":"pods","reason":"expired"')).length;
