import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Artifact } from '../artifacts/artifact.ts';
import type { HostSpec } from '../host-spec.ts';
import { agentArguments, agentLaunchdJob, agentReleaseID, argumentsHash } from './job.ts';

const artifact = (name: string): Artifact => ({ name, sha256: `sha of ${name}`, size: 1, file: `/artifacts/${name}` });

const bare: HostSpec = {
  user: 'm1',
  nodeName: 'mac-1',
  tart: artifact('tart'),
  vmEgress: { allow: [] },
  agent: {
    runtime: artifact('node'),
    release: artifact('agent'),
    nodeLabels: {},
    hostCPU: 8,
    hostMemoryMB: 16_384,
    maxPods: 3,
    joinVersion: 'token-1',
  },
};
const tailscale = { binaries: artifact('tailscale'), tags: [], acceptRoutes: false, authKeyVersion: '1' };
const builder = {
  org: 'example',
  labels: [],
  runner: artifact('runner'),
  packer: artifact('packer'),
  crane: artifact('crane'),
  oras: artifact('oras'),
};

const always = [
  '--node-name=mac-1',
  '--kubeconfig=/etc/tart-kubelet/kubeconfig',
  '--host-cpu=8',
  '--host-memory-mb=16384',
  '--max-pods=3',
];

const table: [string, HostSpec, string[]][] = [
  ['a bare host has only what every host has', bare, []],
  [
    'labels are sorted, whatever their order',
    { ...bare, agent: { ...bare.agent, nodeLabels: { 'tuist.dev/runtime': 'tart', 'tuist.dev/fleet': 'a', Z: '' } } },
    ['--node-labels=Z=,tuist.dev/fleet=a,tuist.dev/runtime=tart'],
  ],
  ['the address is that of the tailnet when there is one', { ...bare, tailscale }, ['--node-ip-source=tailscale']],
  [
    'the provider id is passed once it is known',
    { ...bare, agent: { ...bare.agent, providerID: 'scw-applesilicon://fr-par-1/x' } },
    ['--provider-id=scw-applesilicon://fr-par-1/x'],
  ],
  [
    'the version of the kubelet is passed to the letter',
    { ...bare, agent: { ...bare.agent, kubeletVersion: 'v1.36.3' } },
    ['--kubelet-version=v1.36.3'],
  ],
  ['only a builder keeps virtual machines of others', { ...bare, ghActionsRunner: builder }, ['--disable-vm-gc']],
  [
    'optional flags stand in a fixed order',
    {
      ...bare,
      tailscale,
      ghActionsRunner: builder,
      agent: { ...bare.agent, nodeLabels: { a: 'b' }, providerID: 'x', kubeletVersion: 'v1' },
    },
    ['--node-labels=a=b', '--node-ip-source=tailscale', '--provider-id=x', '--kubelet-version=v1', '--disable-vm-gc'],
  ],
];

for (const [name, spec, optional] of table) {
  test(name, () => assert.deepEqual(agentArguments(spec), [...always, ...optional]));
}

test('two lists of arguments have the same hash only if they are equal', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      // An argument never holds a NUL: the kernel could not pass it.
      fc.pre(![...one, ...other].some((argument) => argument.includes('\0')));
      assert.equal(argumentsHash(one) === argumentsHash(other), same);
    }),
  );
  assert.notEqual(argumentsHash(['a', 'b']), argumentsHash(['a b']));
  assert.notEqual(argumentsHash(['a', '']), argumentsHash(['a']));
});

test('code, runtime and arguments each change the release id', () => {
  const { agent } = bare;
  const ids = [
    bare,
    { ...bare, agent: { ...agent, release: artifact('agent 2') } },
    { ...bare, agent: { ...agent, runtime: artifact('node 2') } },
    { ...bare, agent: { ...agent, maxPods: 4 } },
  ].map(agentReleaseID);
  assert.equal(new Set(ids).size, ids.length);
});

test('new code alone leaves the launchd job unchanged (INC-09)', () => {
  const rolled = { ...bare, agent: { ...bare.agent, release: artifact('agent 2'), runtime: artifact('node 2') } };
  assert.deepEqual(agentLaunchdJob(rolled), agentLaunchdJob(bare));
});

test('the agent runs as the user of the console session (INC-03)', () => {
  const job = agentLaunchdJob({ ...bare, user: 'admin' });
  assert.equal(job.UserName, 'admin');
  assert.equal(job.EnvironmentVariables?.['HOME'], '/Users/admin');
});
