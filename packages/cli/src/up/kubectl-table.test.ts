import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { machine } from '@tartan/api';
import { type ControlPlane, fleetNamespace, startControlPlane } from './control-plane.ts';
import { createMachines } from './fleet.ts';
import { aligned } from '../aligned.ts';
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
    controlPlane = await startControlPlane({ folder });
  });
  after(async () => {
    await controlPlane.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is the one that kubectl prints, without what -o wide adds', async ({ signal }) => {
    await createMachines(controlPlane.client, 2);
    const { group, version, plural } = machine.names;
    const path = `/apis/${group}/${version}/namespaces/${fleetNamespace}/${plural}`;
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
