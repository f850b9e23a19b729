import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type HostSpec, summaryHash } from '@tartan/host';
import type { HostSettings } from './host-settings.ts';
import { fleetRevision, type HostSpecInputs, hostSpecOf } from './host-spec.ts';
import { exampleSettings as settings } from './testing/example-settings.ts';

const facts: HostSpecInputs = { user: 'm1', joinVersion: 'abcdef', tailscaleKeyVersion: '7' };
type Spec = Parameters<typeof machine.make>[0]['spec'];

const machineWith = (spec: Spec = {}, name = 'mac-1'): ScalewayAppleSiliconMachine => ({
  ...machine.make({ metadata: { name, namespace: 'macs' }, spec: { zone: 'fr-par-3', fleetName: 'runners', ...spec } }),
  status: { serverID: '1111' },
});
const specOf = (spec: Spec = {}, known: Partial<HostSpecInputs> = {}, of: HostSettings = settings): HostSpec => {
  const outcome = hostSpecOf(machineWith(spec), { ...facts, ...known }, of);
  assert.ok(outcome.kind === 'specified', JSON.stringify(outcome));
  return outcome.spec;
};
const problemOf = (...[from, known, of]: Parameters<typeof hostSpecOf>): string => {
  const outcome = hostSpecOf(from, known, of);
  assert.ok(outcome.kind === 'problem');
  return outcome.message;
};

describe('the host spec', () => {
  test('is made of the machine, its inputs and the host settings', () => {
    const { agent, tailscale, ...rest } = specOf();
    assert.deepEqual(agent, {
      ...settings.agent,
      nodeLabels: { 'tuist.dev/fleet': 'runners' },
      providerID: 'scw-applesilicon://fr-par-3/1111',
      joinVersion: 'abcdef',
    });
    const { authKeySecretName: _, ...shared } = settings.tailscale;
    assert.deepEqual(tailscale, { ...shared, authKeyVersion: '7' });
    const { tart, nodeExporter, vmEgress } = settings;
    assert.deepEqual(rest, { user: 'm1', nodeName: 'mac-1', tart, nodeExporter, vmEgress });
  });

  test('takes capacities from the machine, and defaults from the manager for none or 0 (INC-41)', () => {
    const own = specOf({ hostCPU: 4, hostMemoryMB: 9_000, maxPods: 1 }).agent;
    assert.deepEqual([own.hostCPU, own.hostMemoryMB, own.maxPods], [4, 9_000, 1]);
    const zero = specOf({ hostCPU: 0, hostMemoryMB: 0, maxPods: 0 }).agent;
    assert.deepEqual([zero.hostCPU, zero.hostMemoryMB, zero.maxPods], [8, 16_384, 2]);
  });

  test('takes kubeletVersion from the machine, if set', () => {
    assert.equal(specOf({ kubeletVersion: 'v1.36.3' }).agent.kubeletVersion, 'v1.36.3');
    for (const none of [{}, { kubeletVersion: '' }]) assert.ok(!('kubeletVersion' in specOf(none).agent));
  });

  test('keeps spec.providerID (INC-38)', () => {
    assert.equal(specOf({ providerID: 'scw-applesilicon://a/b' }).agent.providerID, 'scw-applesilicon://a/b');
  });

  test('has no fleet label without a fleet', () => {
    assert.deepEqual(specOf({ fleetName: '' }).agent.nodeLabels, {});
  });

  test('omits features that the manager lacks', () => {
    const bare = specOf(
      {},
      { tailscaleKeyVersion: undefined },
      { ...settings, tailscale: undefined, nodeExporter: undefined },
    );
    assert.ok(!('tailscale' in bare) && !('nodeExporter' in bare) && !('ghActionsRunner' in bare));
  });

  test('rejects a builder without an environment label', () => {
    for (const ghRunnerLabels of ['self-hosted,macos,bare-metal,vm-image-builder', 'self-hosted, macOS,ARM64', ' , '])
      assert.match(
        problemOf(machineWith({ ghActionsRunner: { ghRunnerLabels } }), facts, settings),
        /Name the environment/,
      );
    assert.match(
      problemOf(machineWith({ ghActionsRunner: {} }), facts, settings),
      /Name the environment/,
      'nor with the default',
    );
    assert.ok(specOf({ ghActionsRunner: { ghRunnerLabels: 'self-hosted,macos,staging' } }).ghActionsRunner);
  });

  test('includes the runner of a builder', () => {
    const runner = specOf({ ghActionsRunner: { ghOrg: 'example', ghRunnerLabels: ' macos, vm ,,' } }).ghActionsRunner;
    assert.deepEqual(runner, { ...settings.builder, org: 'example', labels: ['macos', 'vm'] });
  });

  test('reports a problem with advice when something is missing', () => {
    const builder = machineWith({ ghActionsRunner: {} });
    assert.match(problemOf(builder, facts, { ...settings, builder: undefined }), /--actions-runner-tarball-path/);
    assert.match(problemOf(machineWith(), { ...facts, tailscaleKeyVersion: undefined }, settings), /tailnet/);
    assert.match(problemOf({ ...machineWith(), status: {} }, facts, settings), /which server/);
    assert.match(problemOf(machineWith(), { ...facts, user: '' }, settings), /who logs in/);
    assert.match(problemOf(machineWith(), { ...facts, user: 'a b' }, settings), /"a b" is no short name/);
  });
});

describe('the fleet revision', () => {
  const of = { fleet: 'runners', tailscaleKeyVersion: '7' };
  const another = { ...settings.tart, sha256: 'f'.repeat(64) };

  test('changes with every shared setting', () => {
    const changes: readonly HostSettings[] = [
      { ...settings, tart: another },
      { ...settings, agent: { ...settings.agent, release: another } },
      { ...settings, agent: { ...settings.agent, maxPods: 1 } },
      { ...settings, nodeExporter: undefined },
      { ...settings, tailscale: undefined },
      { ...settings, tailscale: { ...settings.tailscale, tags: ['tag:other'] } },
      { ...settings, builder: { ...settings.builder, packer: another } },
      { ...settings, vmEgress: { allow: [{ cidr: '10.0.0.0/8', protocol: 'tcp', ports: '4000' }] } },
    ];
    const revisions = [settings, ...changes].map((each) => fleetRevision(each, of));
    revisions.push(fleetRevision(settings, { ...of, tailscaleKeyVersion: '8' }));
    assert.equal(new Set(revisions).size, revisions.length);
    assert.equal(fleetRevision(settings, of), fleetRevision({ ...settings }, { ...of }));
  });

  test('changes whenever the hash of every host does', () => {
    const hash = (each: HostSettings): string => summaryHash(specOf({}, {}, each));
    const rolled = { ...settings, agent: { ...settings.agent, runtime: another } };
    assert.notEqual(hash(settings), hash(rolled));
    assert.notEqual(fleetRevision(settings, of), fleetRevision(rolled, of));
  });

  test('is defined without a Tailscale key', () => {
    assert.match(fleetRevision(settings, { ...of, tailscaleKeyVersion: undefined }), /^[0-9a-f]{16}$/);
  });
});
