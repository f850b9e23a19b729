import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { httpsTransport, namespaces } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { createManagerDeployment, type Simulation, startMacPool } from '@tartan/sim-fleet';
import { adminKubeconfig, serve } from '@tartan/sim-kubernetes';
import { tartan } from '../../program.ts';
import { startCluster } from '../../testing/cluster.ts';
import { discoveryConfigMap } from '../protocol.ts';

/** A cluster without controllers, a Scaleway without Macs, and no manager. */
export const startEmptySimulation = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-empty-'));
  const cluster = await startCluster();
  const { admin } = cluster;
  await admin.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: discoveryConfigMap.namespace },
  });
  const macs = await startMacPool({ folder, pace: 0.001 });
  const log = join(folder, 'log');
  const managerDeployment = createManagerDeployment({ program: 'none', environment: {}, log });
  const { handle, identity } = cluster.kubernetes;
  const server = await serve({ handle, identity, port: 0 });
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, await adminKubeconfig(identity, server.url));
  /** The real command over HTTPS. */
  const run = async (args: readonly string[], { signal } = new AbortController()) => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const output = Promise.all([text(stdout), text(stderr)]);
    const code = await tartan(args, { stdin, stdout, stderr, env: { KUBECONFIG: kubeconfig }, signal });
    stdout.end();
    stderr.end();
    const [out, err] = await output;
    return { code, out, err };
  };
  const never = new Promise<never>(() => {});
  const stop = async (): Promise<void> => {
    await server.close();
    await managerDeployment.stop();
    await macs.stop();
    cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const simulation: Simulation = {
    folder,
    controlPlane: {
      url: 'https://127.0.0.1:1',
      kubeconfig: '',
      ca: undefined,
      client: admin,
      transport: httpsTransport({ server: 'https://127.0.0.1:1', clock, credentials: () => ({}) }),
      needsClusterApi: true,
      pause: undefined,
      stop: async () => {},
    },
    macs,
    managerDeployment,
    runners: undefined,
    log,
    upgrade: async () => {},
    failure: never,
    stop,
  };
  return { simulation, admin, run, stop };
};
