import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { machine } from '@tartan/api';
import {
  type ControlPlane,
  createInstaller,
  fleetNamespace as namespace,
  installProvider,
  providerFlags,
  startEmbedded,
} from '@tartan/sim-fleet';
import { kubectlTable } from './next-steps.ts';

describe('kubectlTable', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-table-'));
  let controlPlane: ControlPlane;
  before(async () => {
    controlPlane = await startEmbedded({ folder });
    await installProvider(controlPlane, createInstaller(controlPlane.client), providerFlags);
  });
  after(async () => {
    await controlPlane.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('matches kubectl get without empty and -o wide columns', async ({ signal }) => {
    for (const name of ['mac-1', 'mac-2'])
      await controlPlane.client.create(
        machine.resource,
        machine.make({ metadata: { namespace, name }, spec: { fleetName: 'laptop' } }),
      );
    const { group, version, plural } = machine.names;
    const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
    const [head = '', ...rows] = await kubectlTable(controlPlane.transport, path, signal);
    assert.match(head, /^NAME +FLEET +AGE$/);
    assert.deepEqual(
      rows.map((row) => row.split(/ +/).slice(0, 2)),
      [
        ['mac-1', 'laptop'],
        ['mac-2', 'laptop'],
      ],
    );
  });
});
