import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machine as machineKind, type MachineStatus } from '@tartan/api';
import { type Client, isKubeError, KubeError } from '@tartan/kube';
import type { Machine } from '../controller-deps.ts';
import { createMachinePatcher } from './machine.ts';

const machineWith = (resourceVersion: string, status: MachineStatus, uid = 'u1'): Machine => {
  const metadata = { name: 'mac-1', namespace: 'macs', uid, resourceVersion };
  return { ...machineKind.make({ metadata, spec: {} }), metadata, status } as Machine;
};

/** A pass that has read version 1 of a machine with the server `a`, which another client has written since. */
const patchAfter = async (stored: Machine): Promise<{ readonly written: unknown; readonly error: unknown }> => {
  let written: unknown;
  const client = {
    get: async () => stored,
    patch: async (_: unknown, __: unknown, { body }: { body: { metadata: { resourceVersion: string } } }) => {
      if (body.metadata.resourceVersion !== stored.metadata.resourceVersion) throw new KubeError('conflict', 'changed');
      written = body;
      return stored;
    },
  } as unknown as Client;
  const patcher = createMachinePatcher(client, machineWith('1', { serverID: 'a' }), new AbortController().signal);
  try {
    await patcher.updateStatus((status) => ({ ...status, phase: 'Failed' }));
    return { written, error: undefined };
  } catch (error) {
    return { written, error };
  }
};

describe('a status that meets a conflict', () => {
  it('is written to the machine as it is now, if that still has its Mac', async () => {
    const { written, error } = await patchAfter(machineWith('2', { serverID: 'a', phase: 'Ready' }));
    assert.equal(error, undefined);
    assert.match(JSON.stringify(written), /"phase":"Failed"/);
  });

  it('is not written to a machine that has another Mac, or none, by now', async () => {
    for (const status of [{ serverID: 'b' }, {}]) {
      const { written, error } = await patchAfter(machineWith('2', status));
      assert.equal(written, undefined);
      assert.ok(isKubeError(error, 'conflict'), String(error));
    }
  });

  it('is not written to another machine of the same name', async () => {
    const { written, error } = await patchAfter(machineWith('2', { serverID: 'a' }, 'u2'));
    assert.equal(written, undefined);
    assert.match(String(error), /another machine has the name mac-1/);
  });
});
