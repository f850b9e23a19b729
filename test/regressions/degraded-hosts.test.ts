import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { finalizers, labels, labelValues, machine, macNames, macTaint, secretKeys, secretNames } from '@tartan/api';
import { getCondition, namespaces, pods, secrets, serviceAccounts } from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { coreKinds, deploymentOf, type FleetName } from '@tartan/sim-fleet';
import type { Mac } from '@tartan/sim-mac';
import { unstick } from '../../packages/cli/src/pods/unstick.ts';
import { grantRoot } from '../../packages/host/src/testing/fresh-macs.ts';
import { type Harness, type Machine, namespace, startHarness } from './harness.ts';
import { withAgentPaused } from './processes.ts';

const pfConf = '/etc/pf.conf';
const stanza = `anchor "tuist.runners"\nload anchor "tuist.runners" from "/etc/pf.anchors/tuist.runners"\n`;
const block = `# BEGIN tuist.runners\n${stanza}# END tuist.runners\n`;

/** As many Pods as were Terminating on 19 May, and how many of them belong to a Mac that is gone as well. */
const incident = 504;
const ofALostMac = 24;
const runners = 'tuist-runners';

describe('tuist/tuist#10875: four hosts of the runners fleet were silently degraded', { timeout: 400_000 }, () => {
  let harness: Harness;
  const macs = (): Mac[] => harness.macs.scaleway.servers().flatMap(({ mac }) => mac ?? []);
  const scale = async (fleet: FleetName, replicas: number): Promise<void> => {
    const name = { namespace, name: deploymentOf(fleet) };
    await harness.client.patch(coreKinds.machineDeployments, name, { type: 'merge', body: { spec: { replicas } } });
  };
  const recorded = (mac: Mac, what: string): number =>
    mac.journal.entries.filter((entry) => entry.what === what).length;

  before(async () => {
    harness = await startHarness({ pool: 2, fleets: { macos: 0, runners: 0 } });
  });
  after(() => harness.stop());

  let first: Machine;
  let others = '';

  test('original: a pf.conf with the old stanza and our block twice loads one table twice, and SIGHUP ended loginwindow', async () => {
    for (const mac of macs()) {
      others = readFileSync(mac.path(pfConf), 'utf8');
      appendFileSync(mac.path(pfConf), `${stanza}${block}${stanza}${block}`);
      mac.faults.loginwindow = 'dead';
      writeFileSync(mac.path('/etc/pf.anchors/tuist.runners'), 'table <vm_sources> persist { 192.168.64.0/22 }\n');
      const refused = await mac.run(`pfctl -nf ${pfConf}`, { asRoot: true });
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, /vm_sources: Resource busy/);
      assert.equal(mac.guiSession(), 'none');
      assert.notEqual((await mac.run('killall -HUP loginwindow', { asRoot: true })).code, 0, 'nobody is there to kick');
    }
  });

  test('such a Mac is bootstrapped: one block is left in its pf.conf, which loads, and the user is logged in', async () => {
    await scale('macos', 1);
    const [ready] = await harness.readyMachines(1);
    assert(ready);
    first = ready;
    const mac = harness.macOf(ready);
    assert.equal(readFileSync(mac.path(pfConf), 'utf8'), `${others}${block}`);
    const loaded = await mac.run(`pfctl -nf ${pfConf}`, { asRoot: true });
    assert.equal(loaded.code, 0, loaded.stderr);
    assert.equal(mac.guiSession(), 'Aqua');
  });

  test('a session that ends later is restored before the next VM starts, also from a dead loginwindow', async () => {
    const mac = harness.macOf(first);
    mac.endGuiSession();
    mac.faults.loginwindow = 'dead';
    await harness.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name: 'job' },
      spec: {
        nodeSelector: { [labels.os]: labelValues.os },
        tolerations: [{ key: macTaint.key, operator: 'Exists' }],
        restartPolicy: 'Never',
        containers: [{ name: 'runner', image: 'ghcr.io/example/macos:26' }],
      },
    });
    await harness.waitFor(pods, 'job', 'runs', ({ status }) => status?.phase === 'Running');
    assert.equal(mac.guiSession(), 'Aqua');
    await harness.client.delete(pods, { namespace, name: 'job' }, { gracePeriodSeconds: 0 });
    await harness.waitUntilGone(pods, 'job');
  });

  const stuck = async (index: number, nodeName: string): Promise<void> => {
    const at = { namespace: runners, name: `runner-${index}` };
    await harness.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...at, finalizers: [finalizers.vmCleanup] },
      spec: { nodeName, restartPolicy: 'Never', containers: [{ name: 'vm', image: 'ghcr.io/example/macos:26' }] },
    });
    const body = { status: { phase: 'Succeeded' } };
    await harness.client.patch(pods, at, { type: 'merge', body }, { subresource: 'status' });
    await harness.client.delete(pods, at, { gracePeriodSeconds: 0 });
  };
  const left = async (): Promise<number> => (await harness.client.list(pods, { namespace: runners })).items.length;

  test('finished Pods are released by the agent: the original checked the phase first, and 504 Pods stayed Terminating', async () => {
    await harness.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: runners } });
    await harness.waitFor(serviceAccounts, { namespace: runners, name: 'default' }, 'is there', () => true);
    await withAgentPaused(harness.macOf(first), async () => {
      const all = Array.from({ length: incident }, (_, index) => index);
      // As many concurrent requests as a usual client has.
      for (let from = 0; from < incident; from += 8)
        await Promise.all(
          all.slice(from, from + 8).map((index) => stuck(index, index < ofALostMac ? 'mac-lost' : first.metadata.name)),
        );
      assert.equal(await left(), incident);
    });
    for (let index = ofALostMac; index < incident; index += 1)
      await harness.waitUntilGone(pods, { namespace: runners, name: `runner-${index}` });
    assert.equal(await left(), ofALostMac);
  });

  test('Pods of a deleted Mac are removed by one command', async () => {
    const later: Clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const said = text(stdout);
    stderr.resume();
    const cluster = { client: harness.client, clock: later };
    const { signal } = new AbortController();
    const code = await unstick({ apply: true, output: 'json' }, cluster, { stdout, stderr }, signal);
    stdout.end();
    assert.equal(code, 0);
    assert.equal(JSON.parse(await said).counts.released, ofALostMac);
    assert.equal(await left(), 0);
  });

  let second: Machine;
  const why = ({ status }: Pick<Machine, 'status'>) => getCondition(status?.conditions ?? [], 'Bootstrapped');
  const putPassword = async (password: string): Promise<void> => {
    const name = { namespace, name: secretNames.machine(second.metadata.name) };
    const body = { stringData: { [secretKeys.machine.sudoPassword]: password } };
    await harness.client.patch(secrets, name, { type: 'merge', body });
  };
  /** The manager waits for a minute after a failure, and longer when a user has to act. */
  const letTheWaitPass = async (): Promise<void> => {
    const name = { namespace, name: second.metadata.name };
    const body = { status: { lastAttempt: { at: '2026-01-01T00:00:00Z' } } };
    await harness.client.patch(machine.resource, name, { type: 'merge', body }, { subresource: 'status' });
    await harness.upgrade({ version: '0.1.0' });
  };

  test('the password <sealed> counts as missing: the machine says that a person must provide one, and nothing is sent to the Mac', async () => {
    harness.macs.scaleway.faults.password = 'sealed';
    const mac = macs().find((each) => each !== harness.macOf(first));
    assert(mac);
    // Root was granted before, as on the hosts of the incident: so only the console detects a wrong password.
    grantRoot(mac);
    await scale('runners', 1);
    await harness.waitFor(
      coreKinds.machineDeployments,
      deploymentOf('runners'),
      'has its machine',
      ({ status }) => status?.replicas === 1,
    );
    const found = (await harness.machines()).find(({ spec }) => spec.fleetName === 'runners');
    assert(found);
    second = await harness.waitFor(
      machine.resource,
      found.metadata.name,
      'asks for a password',
      (seen) => why(seen)?.reason === 'MissingSudoPassword',
    );
    assert.equal(harness.macOf(second), mac);
    assert.equal(recorded(mac, 'console.sealed') + recorded(mac, 'sudo.password'), 0);
  });

  test('a wrong password fails the bootstrap, as macOS seals kcpassword, and the machine reports the reason', async () => {
    await putPassword('not the one');
    await letTheWaitPass();
    const failed = await harness.waitFor(
      machine.resource,
      second.metadata.name,
      'has failed',
      (seen) => why(seen)?.reason === 'BootstrapFailed',
    );
    assert.match(why(failed)?.message ?? '', /sealed .*kcpassword: it is wrong/);
    assert.doesNotMatch(JSON.stringify(failed), /not the one/);
    const mac = harness.macOf(second);
    assert.equal(mac.guiSession(), 'none');
    assert.equal(recorded(mac, 'console.sealed'), 1);
  });

  test('a wrong password is not tried on the Mac again, where several attempts would lock the account', async () => {
    await letTheWaitPass();
    await harness.waitFor(
      machine.resource,
      second.metadata.name,
      'has tried again',
      ({ status }) => (status?.lastAttempt?.count ?? 0) >= 2,
    );
    const mac = harness.macOf(second);
    assert.equal(recorded(mac, 'console.sealed'), 1);
    assert.equal(mac.job(macNames.agentJob), undefined, 'no agent takes Pods there that could never start');
  });

  test('with the right password the machine becomes Ready', async () => {
    await putPassword(harness.macOf(second).user.password);
    await letTheWaitPass();
    await harness.waitFor(machine.resource, second.metadata.name, 'is ready', ({ status }) => status?.ready === true);
    assert.equal(harness.macOf(second).guiSession(), 'Aqua');
  });
});
