import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { annotations, machine } from '@tartan/api';
import { createSubresources, nodes, pods, type Subresources } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { fleetNames } from '@tartan/sim-fleet';
import type { Mac } from '@tartan/sim-mac';
import { createDemoPod } from '../../packages/cli/src/up/demo-pod.ts';
import { type Harness, namespace, startHarness } from './harness.ts';
import type { RunningProvider } from './provider.ts';

const name = 'build-1';
const pod = { namespace, name };

describe('a Pod on a simulated Mac with the shipped agent', { timeout: 240_000 }, () => {
  let harness: Harness;
  let provider: RunningProvider;
  let mac: Mac;
  let reach: Subresources;
  const runs = () => harness.waitFor(pods, name, 'runs', ({ status }) => status?.phase === 'Running');
  const vms = (): string[] => readdirSync(mac.path('/Users/m1/.tart/vms')).filter((vm) => vm.includes(name));
  /** Processes of virtual machines, as the Mac shows them. */
  const guests = async (): Promise<string> =>
    (await mac.run("ps -A -ww -o pid=,command= | grep '[t]art run' | awk '{ print $1 }'")).stdout;

  before(async () => {
    harness = await startHarness({ macs: 1, fleet: fleetNames[0] });
    reach = createSubresources(harness.transport, { clock: systemClock });
    provider = await harness.startProvider({ version: '0.1.0' });
    await createDemoPod(harness.client);
    await harness.createMachine('mac-a');
    await harness.waitFor(machine.resource, 'mac-a', 'is ready', ({ status }) => status?.ready === true);
    // Its kubelet API gets a certificate a moment later, and only then does the Node announce its port.
    await harness.waitFor(
      nodes,
      'mac-a',
      'can be reached',
      ({ status }) => (status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) > 0,
    );
    const found = harness.serverNamed('mac-a')?.mac;
    assert(found);
    mac = found;
  });
  after(() => harness.stop());

  test('becomes a VM, and the log of its guest is readable', async () => {
    const { spec, status } = await runs();
    assert.equal(spec?.nodeName, 'mac-a');
    assert.match(status?.podIP ?? '', /^192\.168\.64\./);
    assert.equal(vms().length, 1);
    let text = '';
    for await (const chunk of reach.podLogs(pod, { follow: true })) {
      text += Buffer.from(chunk).toString();
      if (text.includes('Step 2')) break;
    }
    assert.match(text, /^The guest has booted\.\nJob build-and-test begins\.\n/);
  });

  test('continues under the next agent without interruption (INC-30)', async () => {
    const before = await runs();
    const process = await guests();
    assert.match(process, /^\d+\n$/);
    await provider.stop();
    provider = await harness.startProvider({ version: '0.2.0' });
    await harness.waitFor(
      nodes,
      'mac-a',
      'runs 0.2.0',
      ({ metadata }) => metadata.annotations?.[annotations.agentVersion] === 'v0.2.0',
    );
    const { status } = await runs();
    assert.deepEqual(status?.containerStatuses, before.status?.containerStatuses);
    assert.equal(await guests(), process);
  });

  test('deletes its VM when it is deleted', async () => {
    await harness.client.delete(pods, pod);
    await harness.waitUntilGone(pods, name);
    assert.deepEqual(vms(), []);
    assert.equal(await guests(), '');
  });

  test('ends with its Mac, and leaves no process and no file', async () => {
    await createDemoPod(harness.client);
    await runs();
    await mac.stop();
    const { root } = mac;
    const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'command=']);
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.includes(root)),
      [],
    );
  });
});
