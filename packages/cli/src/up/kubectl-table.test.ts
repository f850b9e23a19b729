import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { machine } from '@tartan/api';
import { aligned } from '../aligned.ts';
import { type ControlPlane, fleetNamespace as namespace } from '../simulation/control-plane.ts';
import { startEmbedded } from '../simulation/embedded-control-plane.ts';
import { furnish } from '../simulation/furnish.ts';
import { createFurniture } from '../simulation/furniture.ts';
import { usualFlags } from '../simulation/provider-flags.ts';
import { kubectlTable } from './kubectl-table.ts';

test('columns stand below each other, and no line ends in blanks', () => {
  assert.deepEqual(
    aligned([
      ['A', 'LONG', 'C'],
      ['longer', 'x', ''],
    ]),
    ['A        LONG   C', 'longer   x'],
  );
});

describe('the table of a kind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-table-'));
  let controlPlane: ControlPlane;
  before(async () => {
    controlPlane = await startEmbedded({ folder });
    await furnish(controlPlane, createFurniture(controlPlane.client), usualFlags);
  });
  after(async () => {
    await controlPlane.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is the one that kubectl prints, without what -o wide adds', async ({ signal }) => {
    for (const name of ['mac-1', 'mac-2'])
      await controlPlane.client.create(
        machine.resource,
        machine.make({ metadata: { namespace, name }, spec: { fleetName: 'laptop' } }),
      );
    const { group, version, plural } = machine.names;
    const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
    const [head = '', ...rows] = await kubectlTable(controlPlane.transport, path, signal);
    assert.match(head, /^NAME +PHASE +READY +FLEET +SERVER +REASON +AGE$/);
    assert.deepEqual(
      rows.map((row) => row.split(/ +/).slice(0, 2)),
      [
        ['mac-1', 'laptop'],
        ['mac-2', 'laptop'],
      ],
    );
  });
});
