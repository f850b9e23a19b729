import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { macFleet, machine, macHost, runnerPool } from '@tartan/api';
import { nodes, pods, serviceAccounts } from '@tartan/kube';
import { jsonSchemas } from './json-schemas.ts';
import { runTartan, serveCluster, startCluster, type TestCluster } from './testing/cluster.ts';
import { aCondition, aFleet, aHost, aMachine, aNode, aRunnerPod, aRunnerPool } from './testing/objects.ts';

/** The real commands over HTTPS, with a kubeconfig as kubectl has it. */
describe('operator commands', () => {
  let cluster: TestCluster;
  let served: Awaited<ReturnType<typeof serveCluster>>;
  before(async () => {
    cluster = await startCluster();
    served = await serveCluster(cluster);
    await cluster.add(
      machine.resource,
      aMachine('mac-1', {
        phase: 'Pending',
        conditions: [aCondition('Provisioned', 'False', 'NoAvailableHost', 'None is free.')],
      }),
    );
    await cluster.add(macHost.resource, aHost('h-1', { state: 'stranded', name: 'nobody-s' }));
    await cluster.add(macFleet.resource, aFleet('macos'));
    await cluster.add(nodes, aNode('mac-9'));
    await cluster.add(runnerPool.resource, aRunnerPool('macos'));
    const account = { metadata: { namespace: 'default', name: 'default' } };
    await cluster.admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', ...account });
    await cluster.add(pods, aRunnerPod('macos-runner-1', 'mac-9'));
  });
  after(async () => {
    await served.stop();
    cluster.stop();
  });

  const cases: readonly [args: string[], code: number, out: RegExp][] = [
    [['fleet'], 0, /mac-1 +macos +Pending[^]*h-1 +stranded[^]*mac-9 Ready/],
    [['fleet', '-n', 'nowhere'], 0, /h-1 +stranded/],
    [
      ['explain', 'mac-1'],
      0,
      /^The machine mac-1 is Pending[^]*Decision\n {2}The machine waits for Cluster API\. There is no Cluster macs\./,
    ],
    [['explain', 'h-1'], 0, /stranded/],
    [['pool'], 0, /stranded +M2-L/],
    [['orphans'], 1, /h-1 +nobody-s .* leave +ReportOnly/],
    [['runners'], 0, /^POOL +WANTED[^]*macos +3/],
    [['runners', 'macos'], 0, /^POOL[^]*POD +NODE[^]*macos-runner-1 +mac-9/],
    [['runners', 'none'], 1, /There is no RunnerPool none/],
    [['runners', '-n', 'nowhere'], 0, /There is no RunnerPool\. /],
    [['explain', 'rpool/macos'], 0, /^The pool macos wants 3 runners/],
    [['roll', 'status'], 0, /^FLEET +STATE/],
    [['roll', 'status', 'none'], 1, /There is no MacFleet none/],
    [['version'], 0, /Kubernetes +v1\.[^]*agent +v1\.2\.3 +mac-9/],
    [['pods', 'unstick'], 0, /No Pod is stuck/],
  ];
  for (const [args, code, out] of cases)
    test(`tartan ${args.join(' ')}`, async () => {
      const answer = await served.run(args);
      assert.match(answer.out, out);
      assert.deepEqual([answer.code, answer.err], [code, '']);
      assert.ok(!answer.out.includes('\u001B'));
    });

  const documents: readonly [args: string[], schema: string][] = [
    [['fleet'], 'fleet'],
    [['explain', 'mac-1'], 'explain'],
    [['explain', 'mac-9'], 'explain'],
    [['explain', 'fleet/macos'], 'explain'],
    [['pool'], 'pool'],
    [['runners', 'macos'], 'runners'],
    [['explain', 'rpool/macos'], 'explain'],
    [['orphans'], 'orphans'],
    [['roll', 'status'], 'roll status'],
    [['version'], 'version'],
    [['version', '--client'], 'version'],
  ];
  for (const [args, schema] of documents)
    test(`tartan ${args.join(' ')} -o json is as documented`, async () => {
      const { out } = await served.run([...args, '-o', 'json']);
      jsonSchemas[schema]?.parse(JSON.parse(out));
    });

  test('roll pause and roll resume are idempotent', async () => {
    const paused = await served.run(['roll', 'pause', 'macos']);
    assert.deepEqual([paused.code, paused.out.split('.')[0]], [0, 'macos is paused']);
    assert.match((await served.run(['roll', 'pause'])).out, /^macos was already paused\.$/m);
    const { out } = await served.run(['roll', 'resume', '-o', 'json']);
    const { paused: isPaused, changed } = JSON.parse(out);
    jsonSchemas['roll resume']?.parse(JSON.parse(out));
    assert.deepEqual([isPaused, changed], [false, true]);
    const none = await served.run(['roll', 'pause', 'nope']);
    assert.deepEqual(
      [none.code, none.err],
      [1, 'tartan roll pause: There is no MacFleet nope. There are: default/macos.\n'],
    );
  });

  test('roll resume fails for a fleet that the Helm release pauses, and says what to do', async () => {
    const setPausedByRelease = (pausedByRelease: boolean) =>
      cluster.admin.patch(
        macFleet.resource,
        { namespace: 'default', name: 'macos' },
        { type: 'merge', body: { spec: { pausedByRelease } } },
      );
    await setPausedByRelease(true);
    const resumed = await served.run(['roll', 'resume', 'macos']);
    assert.equal(resumed.code, 1);
    assert.match(
      resumed.out,
      /^macos is still paused by the values of its chart release\. Set rollout\.paused of the fleet to false/,
    );
    assert.match((await served.run(['roll', 'status'])).out, /macos is paused by the values of its chart release\./);
    assert.match((await served.run(['explain', 'fleet/macos'])).out, /Set rollout\.paused of this fleet to false/);
    await setPausedByRelease(false);
    assert.equal((await served.run(['roll', 'resume', 'macos'])).code, 0);
  });

  test('as a kubectl plugin every text says kubectl tartan', async () => {
    const help = await served.run(['roll', 'pause', '--help'], 'kubectl tartan');
    assert.match(
      help.out,
      /^Usage: kubectl tartan roll pause \[options\] \[fleet\]\n[^]*\$ kubectl tartan roll pause macos/,
    );
    const unknown = await served.run(['explain', 'nothing-there'], 'kubectl tartan');
    assert.match(unknown.err, /^kubectl tartan explain: .* kubectl tartan fleet lists all machines and Macs\.\n$/);
    const typo = await served.run(['flet'], 'kubectl tartan');
    assert.match(typo.err, /Did you mean fleet\?\)\n\(see kubectl tartan --help\)/);
    assert.match((await served.run(['fleet'], 'kubectl tartan')).out, /: kubectl\s+tartan\s+explain\s+NAME/);
  });

  test('-n and -A together are rejected', async () => {
    const { code, err } = await served.run(['fleet', '-A', '-n', 'x']);
    assert.equal(code, 2);
    assert.match(err, /cannot be used with/);
  });
});

describe('operator commands without a usable cluster', () => {
  test('no kubeconfig: the error says what to set', async () => {
    const { code, err } = await runTartan(['fleet'], { HOME: '/nonexistent' });
    assert.equal(code, 2);
    assert.match(err, /^tartan fleet: No cluster is configured: .* Set KUBECONFIG to a kubeconfig file\.\n$/);
  });

  test('unreachable cluster: version prints the client version and an error', async () => {
    const { code, out, err } = await runTartan(['version'], { HOME: '/nonexistent' });
    assert.equal(code, 2);
    assert.match(out, /^WHAT +VERSION +WHERE\ntartan +\d/);
    assert.match(err, /No cluster is configured/);
  });

  test('missing CRDs: the error says how to install them', async () => {
    const cluster = await startCluster({ kinds: false });
    const served = await serveCluster(cluster);
    try {
      const { code, err } = await served.run(['fleet']);
      assert.equal(code, 2);
      assert.match(
        err,
        /kind ScalewayAppleSiliconMachine .* is not installed .* kubectl apply -f packages\/api\/crds\.\n$/,
      );
      // A cluster without runners is not an error.
      const runners = await served.run(['runners']);
      assert.deepEqual([runners.code, runners.err], [0, '']);
      assert.match(runners.out, /^The kind RunnerPool is not installed/);
    } finally {
      await served.stop();
      cluster.stop();
    }
  });
});
