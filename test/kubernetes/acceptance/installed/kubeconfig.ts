import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { externalControlPlane } from '@tartan/api';
import { getCondition, secrets } from '@tartan/kube';
import { formatKubeconfig } from '@tartan/tools-kubernetes';
import { type ExternalSecrets, externalSecrets, startExternalSecrets } from './external-secrets.ts';
import type { Harness } from './harness.ts';
import { guardKubeconfig, type KubeconfigGuard, kubeconfigName } from './kubeconfig-guard.ts';
import { succeeded } from './run.ts';
import { clusterName, namespace, release } from './values.ts';

const [item, field] = ['capi-workload-kubeconfig', 'kubeconfig'] as const;
const fromStore = (enabled: boolean) => ({ capi: { remoteKubeconfig: { externalSecrets: { enabled } } } });

/** Cluster API always has a working kubeconfig, whatever happens to the release and whichever controller writes it. */
export const testKubeconfig = (on: () => Harness): void => {
  describe('the kubeconfig of Cluster API', () => {
    let guard: KubeconfigGuard;
    let store: ExternalSecrets;
    before(async () => {
      store = await startExternalSecrets(on());
      guard = await guardKubeconfig(on());
    });
    after(async () => {
      await guard?.stop();
      await store?.stop();
    });

    const isWrittenBy = (reason: string) =>
      on().waitFor(
        externalControlPlane.resource,
        clusterName,
        `has a kubeconfig that is ${reason}`,
        ({ status }) => getCondition(status?.conditions ?? [], 'KubeconfigReady')?.reason === reason,
      );
    const current = async (): Promise<string> => {
      const { data } = await on().client.get(secrets, { namespace, name: kubeconfigName });
      return Buffer.from(data?.['value'] ?? '', 'base64').toString();
    };

    test('is taken from the store once it exists, and not before', async () => {
      const minted = await current();
      succeeded(on(), await on().helm('upgrade', fromStore(true)));
      assert.equal(await current(), minted, 'the store has none yet');
      const token = await on().waitFor(
        secrets,
        'capi-remote-token',
        'has its token',
        ({ data }) => data?.['token'] !== undefined,
      );
      const text = (key: string): string => Buffer.from(token.data?.[key] ?? '', 'base64').toString();
      const stored = formatKubeconfig({ url: on().url, caCertificate: text('ca.crt'), token: text('token') });
      await store.put(item, field, stored);
      await isWrittenBy('Provided');
      assert.equal(await current(), stored);
    });

    test('works during an upgrade, a failed upgrade with its rollback, and a rollback', async () => {
      const stored = await current();
      const { stdout } = await on().runHelm('status', release, '--output', 'json');
      const { version }: { version: number } = JSON.parse(stdout);
      succeeded(on(), await on().helm('upgrade', { provider: { podLabels: { upgrade: 'another' } } }));
      const impossible = { runnersFleet: { replicas: 9 } };
      const { code, output } = await on().helm('upgrade', impossible, ['--rollback-on-failure', '--timeout', '15s']);
      assert.notEqual(code, 0);
      assert.match(output, /rolled back|rollback-on-failure/, output);
      succeeded(on(), await on().runHelm('rollback', release, String(version), '--wait', '--timeout', '300s'));
      assert.equal(await current(), stored);
      await isWrittenBy('Provided');
    });

    test('is made by the provider again', async () => {
      succeeded(on(), await on().helm('upgrade', fromStore(false)));
      await isWrittenBy('Minted');
      const left = await on().client.list(externalSecrets, { namespace });
      assert.deepEqual(left.items, [], 'nobody else writes it any more');
      assert.deepEqual(await guard.stop(), []);
    });
  });
};
