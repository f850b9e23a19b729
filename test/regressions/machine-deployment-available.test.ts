import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { macFleet, machine, macNames, secretNames } from '@tartan/api';
import { getCondition, isConditionTrue, isKubeError, nodes, secrets } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { connect, coreKinds, deploymentOf, fleetNames } from '@tartan/sim-fleet';
import { type Harness, isReady, type Machine, namespace, runsAgent, startHarness } from './harness.ts';
import { withAgentPaused } from './processes.ts';

const clusterName = 'tartan-capi';
const kubeconfig = { namespace, name: secretNames.kubeconfig(clusterName) };
const agent = macNames.agentJob;

const wasKilled = ({ detail }: { detail: string }): boolean => /CODESIGNING/.test(detail);

describe('tuist/tuist#10981: every deploy timed out because no fleet became available', { timeout: 400_000 }, () => {
  let harness: Harness;
  let machines: readonly Machine[];
  const inFleet = (fleet: string): Machine => {
    const found = machines.find(({ spec }) => spec.fleetName === fleet);
    assert(found);
    return found;
  };
  const nodeOf = ({ metadata }: Machine) => harness.client.get(nodes, { name: metadata.name });
  const fleetIs = (name: string, what: string, type: string, reason: string) =>
    harness.waitFor(
      macFleet.resource,
      name,
      what,
      ({ status }) => getCondition(status?.conditions ?? [], type)?.reason === reason,
    );

  before(async () => {
    harness = await startHarness({
      pool: 2,
      fleets: { macos: 1, runners: 1 },
      flags: ['--tartkubelet-max-update-attempts=1', '--tartkubelet-terminal-retry-after=2s'],
    });
    machines = await harness.readyMachines(2);
  });
  after(() => harness.stop());

  test('every MachineDeployment is Available, as its Machine is bound to the Node with its providerID', async () => {
    for (const fleet of fleetNames) {
      const made = await harness.waitFor(
        coreKinds.machineDeployments,
        deploymentOf(fleet),
        'is Available',
        ({ status }) => isConditionTrue(status?.conditions ?? [], 'Available'),
      );
      assert.equal(made.status?.availableReplicas, 1);
      const mine = inFleet(fleet);
      const { id, zone } = harness.serverOf(mine);
      assert.equal(mine.spec.providerID, `scw-applesilicon://${zone}/${id}`);
      const owner = await harness.client.get(coreKinds.machines, { namespace, name: mine.metadata.name });
      const bound = await harness.client.get(nodes, { name: owner.status?.nodeRef?.name ?? '' });
      assert.equal(owner.spec?.['providerID'], mine.spec.providerID);
      assert.equal(bound.spec?.providerID, mine.spec.providerID);
      await fleetIs(fleet, 'is as a deploy may wait for', 'Ready', 'UpToDate');
    }
  });

  test('the provider writes the kubeconfig of Cluster API, and writes it again when somebody deletes it', async () => {
    const first = await harness.waitFor(secrets, kubeconfig, 'is there', ({ data }) => data?.['value'] !== undefined);
    await harness.client.delete(secrets, kubeconfig);
    const again = await harness.waitFor(
      secrets,
      kubeconfig,
      'is there again',
      ({ metadata, data }) => metadata.uid !== first.metadata.uid && data?.['value'] !== undefined,
    );
    // Its rights are those that are installed with the provider.
    const file = join(harness.folder, 'of-cluster-api');
    writeFileSync(file, Buffer.from(again.data?.['value'] ?? '', 'base64'), { mode: 0o600 });
    const { client, transport } = await connect(file);
    try {
      assert.equal((await client.list(nodes)).items.length, 2);
      await assert.rejects(client.list(secrets, { namespace }), (error) => isKubeError(error, 'forbidden'));
    } finally {
      transport.close();
    }
  });

  test('the agent sets the providerID of an existing Node without one', async () => {
    const mine = inFleet('macos');
    const { name } = mine.metadata;
    await withAgentPaused(harness.macOf(mine), async () => {
      await harness.client.delete(nodes, { name });
      await harness.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    });
    await harness.waitFor(nodes, name, 'has its providerID', ({ spec }) => spec?.providerID === mine.spec.providerID);
    await harness.waitFor(nodes, name, 'is Ready', isReady);
  });

  test('a Node with the providerID of another server keeps it, whatever --provider-id is', async () => {
    const mine = inFleet('macos');
    const { name } = mine.metadata;
    const wrong = 'scw-applesilicon://fr-par-1/00000000-0000-4000-8000-000000000000';
    await withAgentPaused(harness.macOf(mine), async () => {
      await harness.client.delete(nodes, { name });
      const metadata = { name };
      await harness.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata, spec: { providerID: wrong } });
    });
    // Its agent has checked it by then, as it reports the state of the Mac.
    const node = await harness.waitFor(nodes, name, 'is reported by its agent', isReady);
    assert.equal(node.spec?.providerID, wrong);
    await harness.client.delete(nodes, { name });
    await harness.waitFor(
      nodes,
      name,
      'is the right one again',
      (node) => node.spec?.providerID === mine.spec.providerID,
    );
    await harness.waitFor(machine.resource, name, 'is ready', ({ status }) => status?.ready === true);
  });

  test('a restart that left the old process, and one with a crash loop, stop the roll with a reason', async () => {
    harness.macOf(inFleet('macos')).faults.kickstart = 'no-op';
    harness.macOf(inFleet('runners')).faults.crashLoop.add(agent);
    await harness.upgrade({ version: '0.2.0' });
    for (const fleet of fleetNames) {
      const { status } = await fleetIs(fleet, 'has stopped', 'Stalled', 'PushRejected');
      assert.equal(status?.updated, 0);
      assert.ok(!isConditionTrue(status.conditions ?? [], 'Ready'), 'helm --wait does not pass');
    }
    assert.ok(
      runsAgent('0.1.0')(await nodeOf(inFleet('macos'))),
      'the old process is still there, and nobody says otherwise',
    );
    assert.ok(!runsAgent('0.2.0')(await nodeOf(inFleet('runners'))));
  });

  test('the drift remains, so the same roll is retried, and succeeds as soon as the Macs accept it', async () => {
    const before = await Promise.all(machines.map(nodeOf));
    harness.macOf(inFleet('macos')).faults.kickstart = 'normal';
    harness.macOf(inFleet('runners')).faults.crashLoop.clear();
    for (const { metadata } of machines)
      await harness.waitFor(nodes, metadata.name, 'runs the new agent', runsAgent('0.2.0'));
    for (const fleet of fleetNames) await fleetIs(fleet, 'is up to date', 'Ready', 'UpToDate');
    assert.deepEqual(
      (await Promise.all(machines.map(nodeOf))).map(({ metadata, spec }) => [metadata.uid, spec?.providerID]),
      before.map(({ metadata, spec }) => [metadata.uid, spec?.providerID]),
    );
  });

  const runtimeOn = (mine: Machine): string => {
    const mac = harness.macOf(mine);
    return realpathSync(mac.path('/usr/local/lib/tart-kubelet/current/node'));
  };

  test('a binary that was overwritten in place is killed by macOS, and runs when it is signed again', async () => {
    const mine = inFleet('macos');
    const mac = harness.macOf(mine);
    const file = runtimeOn(mine);
    appendFileSync(file, '# another build\n');
    await mac.run(`launchctl kickstart -k system/${agent}`, { asRoot: true });
    await eventually('it was killed', () => mac.journal.entries.some(wasKilled));
    await mac.run(`codesign --force --sign - "${file.slice(realpathSync(mac.root).length)}"`, { asRoot: true });
    await mac.run(`launchctl kickstart -k system/${agent}`, { asRoot: true });
    await eventually('it runs', () => mac.job(agent)?.pid !== undefined);
  });

  test('the agent is never overwritten in place: a rollout of the binary kills no process, and every Node is Ready', async () => {
    const artifacts = join(harness.folder, 'artifacts');
    const shipped = readdirSync(artifacts).find((name) => name.startsWith('node-'));
    assert(shipped);
    const next = `${readFileSync(join(artifacts, shipped), 'utf8')}# the next build\n`;
    const before = machines.map(runtimeOn);
    const texts = before.map((file) => readFileSync(file, 'utf8'));
    const runs = machines.map((mine) => harness.macOf(mine).journal.entries.length);
    await harness.upgrade({ version: '0.3.0', runtime: next });
    for (const { metadata } of machines)
      await harness.waitFor(nodes, metadata.name, 'runs the new binary', runsAgent('0.3.0'));
    for (const fleet of fleetNames) await fleetIs(fleet, 'is up to date', 'Ready', 'UpToDate');
    for (const [at, mine] of machines.entries()) {
      const mac = harness.macOf(mine);
      assert.notEqual(runtimeOn(mine), before[at], 'the new one is a file of its own');
      assert.equal(readFileSync(before[at] ?? '', 'utf8'), texts[at], 'and the old one is as it was');
      const since = mac.journal.entries.slice(runs[at]);
      assert.deepEqual(since.filter(wasKilled), []);
    }
  });
});
