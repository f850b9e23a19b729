import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretNames } from '@tartan/api';
import { getCondition, nodes, secrets } from '@tartan/kube';
import { systemClock, timestamp } from '@tartan/kube/clock';
import { connect, coreKinds } from '@tartan/sim-fleet';
import type { Harness } from './harness.ts';
import { recordChanges } from './record-changes.ts';
import { clusterName } from './values.ts';

export const kubeconfigName = secretNames.kubeconfig(clusterName);

export interface KubeconfigGuard {
  /** Every time at which Cluster API had no working kubeconfig, in words. */
  stop(): Promise<readonly string[]>;
}

/** Watches core's kubeconfig: tries each new version at once, and records core's condition about its connection. */
export const guardKubeconfig = async (harness: Harness): Promise<KubeconfigGuard> => {
  const { folder } = harness;
  const problems: string[] = [];
  const connections: Promise<void>[] = [];
  let last: string | undefined;
  const report = (what: string): void => void problems.push(`${timestamp(systemClock.now())}: ${what}`);

  const tryIt = async (value: string, version: string): Promise<void> => {
    const file = join(folder, `kubeconfig-${version}`);
    writeFileSync(file, Buffer.from(value, 'base64'), { mode: 0o600 });
    try {
      const { client: asCore, transport } = await connect(file);
      try {
        await asCore.list(nodes);
      } finally {
        transport.close();
      }
    } catch (error) {
      report(`the kubeconfig of version ${version} does not work: ${String(error)}`);
    } finally {
      rmSync(file);
    }
  };

  const secret = await recordChanges(harness, secrets, ({ type, object: { metadata, data } }) => {
    if (metadata.name !== kubeconfigName) return;
    const value = type === 'DELETED' ? undefined : data?.['value'];
    if (value === undefined) report(`the Secret was ${type === 'DELETED' ? 'deleted' : 'emptied'}`);
    else if (metadata.labels?.['cluster.x-k8s.io/cluster-name'] !== clusterName) report('core does not see the Secret');
    else if (value !== last) connections.push(tryIt(value, metadata.resourceVersion));
    last = value;
  });
  const clusters = await recordChanges(harness, coreKinds.clusters, ({ object: { status } }) => {
    const probe = getCondition(status?.conditions ?? [], 'RemoteConnectionProbe');
    if (probe?.status !== 'True') report(`core says ${probe?.status} ${probe?.reason}: ${probe?.message}`);
  });
  return {
    stop: async () => {
      await Promise.all([secret.stop(), clusters.stop()]);
      await Promise.all(connections);
      return problems;
    },
  };
};
