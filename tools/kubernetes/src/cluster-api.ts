import { mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureBinaries } from './build.ts';
import { install, shippedManifests, tokenOfCore } from './cluster-api/install.ts';
import { coreManager } from './cluster-api/manager.ts';
import { type Component, startComponent } from './control-plane/component.ts';
import { formatKubeconfig } from './control-plane/kubeconfig.ts';
import { own } from './control-plane/ownership.ts';
import { freePorts } from './control-plane/ports.ts';
import type { ControlPlane } from './control-plane.ts';

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
    await install(plane, shipped, ports[0] ?? 0);
    const { url, caCertificate } = plane;
    const access = formatKubeconfig({ url, caCertificate, token: await tokenOfCore(plane) });
    writeFileSync(kubeconfig, access, { mode: 0o600 });
    return ports;
  };
  let running: Component | undefined;
  const stop = async (): Promise<void> => {
    await running?.stop();
    release();
  };
  const release = own({ stop, abandon: () => running?.kill() });
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
