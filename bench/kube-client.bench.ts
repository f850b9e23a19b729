import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminKubeconfig, createKubernetes, type Handle, serve } from '@tartan/sim-kubernetes';
import { bundle } from '@tartan/tools-build';
import { parse } from 'yaml';
import { type Figure, median } from './figure.ts';
import { peer } from './peer.ts';

/**
 * `packages/kube` against `@kubernetes/client-node`: the same server, the same objects, each client in its own process and as it runs in
 * production: ours as the one file that ships, the peer as npm installs it. Neither has to strip types at start.
 */

const nodeCount = 5_000;
const watchCount = 10;
const idleSeconds = 120;
/** How much of Node's own file is resident varies by some megabytes between processes: the median of a few counts. */
const processCount = 3;
const gets = { ours: 2_000, peer: 500 };

type Side = 'ours' | 'peer';

/** About 4 kB, like a Mac's Node: labels, addresses, conditions, images. */
const node = (index: number) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: `node-${index}`,
    labels: Object.fromEntries(
      Array.from({ length: 12 }, (_, label) => [`example.com/label-${label}`, `value-${index}`]),
    ),
    annotations: { 'example.com/note': 'x'.repeat(200) },
  },
  spec: { providerID: `scw-applesilicon://fr-par-1/${index}` },
  status: {
    addresses: [{ type: 'InternalIP', address: `10.0.${index >> 8}.${index & 255}` }],
    capacity: { cpu: '8', memory: '16Gi', pods: '2' },
    allocatable: { cpu: '8', memory: '16Gi', pods: '2' },
    conditions: ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'KubeletHasNoProblem',
      message: 'the kubelet says that all is well with this node',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
    images: Array.from({ length: 12 }, (_, image) => ({
      names: [
        `registry.example.com/macos/runner-${image}@sha256:${'0'.repeat(64)}`,
        `registry.example.com/macos/runner-${image}:latest`,
      ],
      sizeBytes: 40_000_000_000 + image,
    })),
  },
});

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-bench-'));
  const clientNode = peer('@kubernetes/client-node', '2.0.1', say);
  const programs: Record<Side, string> = {
    ours: await bundle({ program: 'bench/kube-client/ours.ts', folder: join(folder, 'ours'), name: 'ours' }),
    peer: await bundle({ program: 'bench/kube-client/client-node.ts', folder: join(folder, 'peer'), name: 'peer' }),
  };
  const kubernetes = await createKubernetes({ controllers: false });
  const { api, identity } = kubernetes;
  const watches: Record<Side, number> = { ours: 0, peer: 0 };
  const handle: Handle = (request) => {
    const userAgent = request.headers['user-agent'] ?? '';
    if (request.query.get('watch') === 'true') watches[userAgent.startsWith('tartan') ? 'ours' : 'peer']++;
    return kubernetes.handle(request);
  };
  const server = await serve({ handle, identity });
  const kubeconfig = join(folder, 'kubeconfig');
  const children = new Set<ChildProcess>();

  const start = (which: Side, ...args: string[]) => {
    const child = spawn(process.execPath, ['--expose-gc', programs[which], ...args], {
      env: { ...process.env, KUBECONFIG: kubeconfig, PEER: clientNode },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.add(child);
    child.once('close', () => children.delete(child));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const readFigures = async (): Promise<Record<string, number>> => {
      const line = await lines.next();
      if (line.done) throw new Error(`${programs[which]} ${args.join(' ')} ended without a figure`);
      return JSON.parse(line.value) as Record<string, number>;
    };
    return { child, readFigures };
  };

  try {
    // As JSON, which both clients accept: in a cluster neither has to parse YAML.
    const config = JSON.stringify(parse(await adminKubeconfig(identity, server.url)));
    await writeFile(kubeconfig, config, { mode: 0o600 });
    const admin = { name: 'bench', groups: ['system:masters'] };
    const nodes = api.find('', 'nodes');
    const namespaces = api.find('', 'namespaces');
    if (!nodes || !namespaces) throw new Error('the embedded Kubernetes serves neither nodes nor namespaces');
    say(`making ${nodeCount} Nodes`);
    for (let index = 0; index < nodeCount; index++) api.create(nodes, '', node(index) as never, admin);
    for (let index = 0; index < watchCount; index++) {
      api.create(
        namespaces,
        '',
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `idle-${index}` } } as never,
        admin,
      );
    }

    const get: Record<Side, number> = { ours: 0, peer: 0 };
    const list: Record<Side, number> = { ours: 0, peer: 0 };
    for (const which of ['ours', 'peer'] as const) {
      get[which] = (await start(which, 'get', String(gets[which])).readFigures())['milliseconds'] ?? Number.NaN;
      const listed = await start(which, 'list').readFigures();
      if (listed['nodes'] !== nodeCount) throw new Error(`${which} listed ${listed['nodes']} Nodes`);
      list[which] = listed['megabytes'] ?? Number.NaN;
      say(`${which}: GET ${get[which].toFixed(2)} ms, ${nodeCount} Nodes take ${list[which].toFixed(1)} MB of heap`);
    }

    say(`${watchCount} idle watches each, for ${idleSeconds} s, ${processCount} processes of each client`);
    const several = (which: Side) =>
      Array.from({ length: processCount }, () => start(which, 'watch', String(watchCount)));
    const idle = { ours: several('ours'), peer: several('peer') };
    for (const { readFigures } of [...idle.ours, ...idle.peer]) await readFigures();
    await sleep(idleSeconds * 1000);
    const rss: Record<Side, number> = { ours: 0, peer: 0 };
    for (const which of ['ours', 'peer'] as const) {
      const megabytes: number[] = [];
      for (const { child, readFigures } of idle[which]) {
        child.kill('SIGUSR2');
        megabytes.push((await readFigures())['megabytes'] ?? Number.NaN);
      }
      rss[which] = median(megabytes);
      const shown = megabytes.map((value) => value.toFixed(0)).join(', ');
      say(`${which}: ${shown} MB resident, ${watches[which]} watch requests`);
    }
    return [
      {
        what: 'GET of one object: client-node takes this many times as long',
        value: get.peer / get.ours,
        unit: 'ratio',
        goal: '>= 5',
      },
      {
        what: `heap of a list of ${nodeCount} Nodes, against client-node`,
        value: list.ours / list.peer,
        unit: 'ratio',
        goal: '<= 0.7',
      },
      {
        what: `resident memory with ${watchCount} idle watches, against client-node`,
        value: rss.ours / rss.peer,
        unit: 'ratio',
        goal: '<= 0.5',
      },
      {
        what: `reconnects of ${watchCount * processCount} idle watches in ${idleSeconds} s`,
        value: watches.ours - watchCount * processCount,
        unit: 'requests',
        goal: '<= 0',
      },
    ];
  } finally {
    for (const child of children) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    await server.close();
    kubernetes.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
