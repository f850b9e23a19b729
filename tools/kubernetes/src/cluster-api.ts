import { mkdtempSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { apiRequest } from './api-request.ts';
import { ensureBinaries } from './build.ts';
import { createCoreToken, installClusterApi, shippedManifests } from './cluster-api-install.ts';
import type { ControlPlane } from './control-plane.ts';
import { type Component, type ComponentSpec, freePorts, startComponent } from './control-plane/component.ts';
import { formatKubeconfig } from './control-plane/kubeconfig.ts';
import { stopAtExit } from './control-plane/stop-at-exit.ts';

/** Core's manager. Its webhooks show the certificate that all servers of the control plane show. */
const coreManager = (
  binary: string,
  kubeconfig: string,
  { files, caCertificate }: Pick<ControlPlane, 'files' | 'caCertificate'>,
): ComponentSpec => ({
  name: 'cluster-api',
  binary,
  portCount: 3,
  args: ([webhook, health, diagnostics]) => [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    `--webhook-port=${webhook}`,
    `--webhook-cert-dir=${dirname(files.serverCertificate)}`,
    `--webhook-cert-name=${basename(files.serverCertificate)}`,
    `--webhook-key-name=${basename(files.serverKey)}`,
    `--health-addr=127.0.0.1:${health}`,
    `--diagnostics-address=127.0.0.1:${diagnostics}`,
    '--insecure-diagnostics',
  ],
  isReady: async ([webhook, health], signal) => {
    // Anybody might answer on the port for health; on the other one only who has our certificate.
    await apiRequest({ url: `https://127.0.0.1:${webhook}`, caCertificate }, '/', { signal });
    return (await fetch(`http://127.0.0.1:${health}/readyz`, { signal })).status === 200;
  },
});

export type ClusterApiVersion = '1.14' | '1.10';

export interface ClusterApiOptions {
  /** 1.14 keeps contract v1beta2; 1.10, which the original ran under, v1beta1. */
  version?: ClusterApiVersion;
}

/** Cluster API core at work on a control plane. */
export interface ClusterApi {
  /** The path of its log; goes with the control plane. */
  log: string;
  /** Ends the process. Its kinds and webhooks stay, so what they guard cannot be written any more. Idempotent. */
  stop(): Promise<void>;
}

const binaryOf = { '1.14': 'cluster-api-core', '1.10': 'cluster-api-core-1.10' } as const;
const deadlineMilliseconds = 120_000;

/**
 * Runs core as a process beside `plane`: with all it ships, its webhooks too, and as its own service account, whose rights the
 * controller manager of `plane` puts together. Ready means that objects of its kinds can be written.
 */
export const startClusterApi = async (
  plane: ControlPlane,
  { version = '1.14' }: ClusterApiOptions = {},
): Promise<ClusterApi> => {
  const name = binaryOf[version];
  const { [name]: binary } = await ensureBinaries([name]);
  const shipped = await shippedManifests(plane, join(dirname(binary), 'config/default'));
  const dir = mkdtempSync(join(plane.dir, 'cluster-api-'));
  const kubeconfig = join(dir, 'kubeconfig');
  // The webhooks must be told where they are before core starts, and again if somebody else took that port.
  const choosePorts = async (count: number): Promise<number[]> => {
    const ports = await freePorts(count);
    await installClusterApi(plane, shipped, ports[0] ?? 0);
    const { url, caCertificate } = plane;
    const access = formatKubeconfig({ url, caCertificate, token: await createCoreToken(plane) });
    writeFileSync(kubeconfig, access, { mode: 0o600 });
    return ports;
  };
  let running: Component | undefined;
  const stop = async (): Promise<void> => {
    await running?.stop();
    release();
  };
  const release = stopAtExit({ stop, killNow: () => running?.kill() });
  try {
    await startComponent(coreManager(binary, kubeconfig, plane), {
      dir,
      deadlineMilliseconds,
      choosePorts,
      onSpawn: (component) => {
        running = component;
      },
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { log: join(dir, 'cluster-api.log'), stop };
};
