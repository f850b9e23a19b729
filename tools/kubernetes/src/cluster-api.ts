import { mkdtempSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { apiRequest } from './api-request.ts';
import { ensureBinaries } from './build.ts';
import { createCoreToken, installClusterApi, shippedManifests } from './cluster-api-install.ts';
import type { ControlPlane } from './control-plane.ts';
import { type Component, type ComponentSpec, freePorts, startComponent } from './control-plane/component.ts';
import { formatKubeconfig } from './control-plane/kubeconfig.ts';
import { stopAtExit } from './control-plane/stop-at-exit.ts';

/** Core's manager. Its webhooks use the server certificate of the control plane. */
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
    // Another process might answer on the health port; on the webhook port only one with our certificate.
    await apiRequest({ url: `https://127.0.0.1:${webhook}`, caCertificate }, '/', { signal });
    return (await fetch(`http://127.0.0.1:${health}/readyz`, { signal })).status === 200;
  },
});

export type ClusterApiVersion = '1.14' | '1.10';

export interface ClusterApiOptions {
  /** 1.14 implements contract v1beta2; 1.10, which the original system used, v1beta1. */
  version?: ClusterApiVersion;
}

/** A running Cluster API core. */
export interface ClusterApi {
  /** The path of its log; removed with the control plane. */
  log: string;
  /** Ends the process. Its CRDs and webhooks stay, so objects that they guard cannot be written any more. Idempotent. */
  stop(): Promise<void>;
}

const binaryOf = { '1.14': 'cluster-api-core', '1.10': 'cluster-api-core-1.10' } as const;
const deadlineMilliseconds = 300_000;

/**
 * Runs core as a process beside `plane`: with all its manifests, including webhooks, and as its own service account, whose permissions the
 * controller manager of `plane` aggregates. Ready means that objects of its kinds can be written.
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
  // The webhooks need their address before core starts, and again if another process took that port.
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
