import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import { certificateSigningRequests, httpsTransport, leases, nodes, type Transport } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import type { TransportFor } from './identity.ts';
import { type Node, summaryAnnotation } from './node-object.ts';
import { playAgent, type PlayedAgent } from './play-agent.ts';
import { stampSummary } from './stamps.ts';
import { openStage, type Stage } from './testing/stage.ts';

const providerID = 'scw-applesilicon://fr-par-1/11111111-2222-3333-4444-555555555555';
const flags = [
  '--node-name=mac-1',
  '--host-cpu=6',
  '--host-memory-mb=12288',
  '--max-pods=2',
  '--node-labels=tuist.dev/fleet=fleet-a,tuist.dev/runtime=tart',
  `--provider-id=${providerID}`,
];

const condition = (node: Node | undefined, type: string): string | undefined =>
  node?.status?.conditions?.find((each) => each.type === type)?.status;
const isReady = (node: Node | undefined): boolean => condition(node, 'Ready') === 'True';
const isNotReady = (node: Node | undefined): boolean => condition(node, 'Ready') === 'False';
const isGone = (node: Node | undefined): boolean => node === undefined;

describe('the agent of a simulated Mac, played from outside', { timeout: 120_000 }, () => {
  let stage: Stage;
  const playing: PlayedAgent[] = [];
  const play = (): PlayedAgent => {
    const agent = playAgent({ mac: stage.mac });
    playing.push(agent);
    return agent;
  };
  const hasStamps = (node: Node | undefined): boolean =>
    node?.metadata?.annotations?.[summaryAnnotation] === stampSummary(stage.mac);
  const requests = async (): Promise<number> => (await stage.client.list(certificateSigningRequests)).items.length;
  const renewals = async (): Promise<string | undefined> =>
    (await stage.client.get(leases, { namespace: 'kube-node-lease', name: 'mac-1' })).spec?.renewTime;

  before(async () => {
    stage = await openStage();
    await stage.install({ version: '0.1.0' }, flags);
    stage.putKubeconfig(await stage.joinKubeconfig());
    stage.stamp('tart', 'aaa');
    stage.stamp('agent-job', 'bbb');
  });
  afterEach(async () => {
    await Promise.all(playing.splice(0).map((agent) => agent.stop()));
  });
  after(() => stage.close());

  test('turns its join token into a certificate and registers all that a Node says of itself', async () => {
    play();
    await stage.load();
    const node = await stage.nodeUntil(isReady);
    assert.equal(node?.metadata?.labels?.['tuist.dev/fleet'], 'fleet-a');
    assert.equal(node?.metadata?.labels?.['kubernetes.io/os'], 'darwin');
    assert.equal(node?.metadata?.annotations?.[summaryAnnotation], stampSummary(stage.mac));
    assert.equal(node?.spec?.providerID, providerID);
    assert.ok(node?.spec?.taints?.some(({ key, effect }) => key === 'tuist.dev/macos' && effect === 'NoSchedule'));
    assert.deepEqual(node?.status?.capacity, { cpu: '6', memory: '12Gi', pods: '2' });
    assert.equal(node?.status?.nodeInfo?.kubeletVersion, '0.1.0');
    for (const type of ['MemoryPressure', 'DiskPressure', 'PIDPressure']) assert.equal(condition(node, type), 'False');
    const onDisk = readFileSync(stage.kubeconfigOnDisk, 'utf8');
    assert.match(onDisk, /client-certificate-data/);
    assert.doesNotMatch(onDisk, /token/);
  });

  test('reuses its certificate after the Mac was restarted', async () => {
    const [before, onDisk] = [await requests(), readFileSync(stage.kubeconfigOnDisk, 'utf8')];
    await stage.client.delete(nodes, { name: 'mac-1' });
    play();
    await stage.mac.reboot();
    await stage.nodeUntil(isReady);
    assert.equal(await requests(), before);
    assert.equal(readFileSync(stage.kubeconfigOnDisk, 'utf8'), onDisk);
  });

  test('registers again when its Node is deleted', async () => {
    play();
    stage.stamp('tart', 'registered');
    const before = await stage.nodeUntil(hasStamps);
    await stage.client.delete(nodes, { name: 'mac-1' });
    const now = await stage.nodeUntil((node) => isReady(node) && node?.metadata?.uid !== before?.metadata?.uid);
    assert.equal(now?.spec?.providerID, providerID);
  });

  test('publishes what is stamped while it runs', async () => {
    play();
    await stage.nodeUntil(isReady);
    stage.stamp('tart', 'ccc');
    const node = await stage.nodeUntil(hasStamps);
    assert.equal(isReady(node), true);
  });

  test('says that it is not Ready, and that it is again', async () => {
    const { faults } = play();
    await stage.nodeUntil(isReady);
    faults.neverReady = true;
    await stage.nodeUntil(isNotReady);
    faults.neverReady = false;
    await stage.nodeUntil(isReady);
  });

  test('joins anew with credentials that are put in the place of its own', async () => {
    play();
    await stage.nodeUntil(isReady);
    const before = await requests();
    await stage.client.delete(nodes, { name: 'mac-1' });
    stage.putKubeconfig(await stage.joinKubeconfig());
    await stage.nodeUntil(isReady);
    assert.equal(await requests(), before + 1);
    assert.match(readFileSync(stage.kubeconfigOnDisk, 'utf8'), /client-certificate-data/);
  });

  test('a new release tells its version, and one that is never Ready is not', async () => {
    play();
    await stage.install({ version: '0.2.0', neverReady: true }, flags);
    await stage.load();
    const node = await stage.nodeUntil((each) => each?.status?.nodeInfo?.kubeletVersion === '0.2.0');
    assert.equal(isNotReady(node), true);
    await stage.install({ version: '0.1.0' }, flags);
    await stage.load();
    await stage.nodeUntil(isReady);
  });

  test('there is no agent where arguments and release do not belong together', async () => {
    await stage.unload();
    await stage.client.delete(nodes, { name: 'mac-1' });
    await stage.install({ version: '0.3.0' }, flags);
    writeFileSync(stage.mac.path('/usr/local/lib/tart-kubelet/current/arguments'), 'of another release\n');
    play();
    await stage.load();
    await stage.nodeUntil(isGone);
    await stage.install({ version: '0.1.0' }, flags);
    await stage.load();
    const node = await stage.nodeUntil(isReady);
    assert.equal(node?.status?.nodeInfo?.kubeletVersion, '0.1.0');
  });

  test('is silent when told so, when its job does not run, and when its Mac is wiped', async () => {
    const clock = manualClock(Date.now());
    let sent = 0;
    const transportFor: TransportFor = (config) => {
      const transport = httpsTransport({ ...config, clock });
      const send: Transport['send'] = (request) => {
        sent += 1;
        return transport.send(request);
      };
      return { ...transport, send };
    };
    const agent = playAgent({ mac: stage.mac, clock, transportFor });
    playing.push(agent);
    /** Time for a report and more: what is sent is sent within a few turns. */
    const passes = async (): Promise<void> => {
      for (let round = 0; round < 60; round += 1) {
        clock.advance(50);
        for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const isHeard = async (): Promise<boolean> => {
      const before = sent;
      await passes();
      return sent > before;
    };
    await stage.nodeUntil(isReady);
    assert.equal(await isHeard(), true);
    agent.faults.silent = true;
    assert.equal(await isHeard(), false);
    agent.faults.silent = false;
    assert.equal(await isHeard(), true);
    await stage.unload();
    assert.equal(await isHeard(), false);
    await stage.load();
    assert.equal(await isHeard(), true);
    await stage.mac.reinstall();
    assert.equal(await isHeard(), false);
  });

  test('renews its Lease, which goes with its Node', async () => {
    await stage.install({ version: '0.1.0' }, flags);
    stage.putKubeconfig(await stage.joinKubeconfig());
    play();
    await stage.load();
    const node = await stage.nodeUntil(isReady);
    const name = { namespace: 'kube-node-lease', name: 'mac-1' };
    const until = async (differs: (renewTime: string | undefined) => boolean): Promise<void> => {
      const { items, resourceVersion } = await stage.client.list(leases, { namespace: name.namespace });
      if (differs(items[0]?.spec?.renewTime)) return;
      const watching = { namespace: name.namespace, resourceVersion, signal: AbortSignal.timeout(30_000) };
      for await (const event of stage.client.watch(leases, watching))
        if (event.type !== 'BOOKMARK' && differs(event.object.spec?.renewTime)) return;
    };
    await until((renewTime) => renewTime !== undefined);
    const first = await renewals();
    await until((renewTime) => renewTime !== first);
    const lease = await stage.client.get(leases, name);
    assert.equal(lease.spec?.holderIdentity, 'mac-1');
    assert.equal(lease.metadata.ownerReferences?.[0]?.uid, node?.metadata?.uid);
  });
});
