import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { agentArguments } from '@tartan/host';
import { exampleSpec } from '@tartan/host/testing';
import { flagGroups, parseFlags } from './flags.ts';

const allFlags = flagGroups.flatMap(({ flags }) => flags);

const surroundings = { env: {}, hostname: 'Mac-1.local' };
const parse = (...words: string[]) => parseFlags(words, surroundings);
const optionsOf = (...words: string[]) => {
  const asked = parse(...words);
  return 'options' in asked ? asked.options : assert.fail(JSON.stringify(asked));
};
const errorsOf = (...words: string[]): readonly string[] => {
  const asked = parse(...words);
  return 'errors' in asked ? asked.errors : assert.fail(JSON.stringify(asked));
};

describe('the flags of the agent', () => {
  test('accept everything that the host steps pass', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flags-'));
    try {
      const spec = exampleSpec(folder, { nodeName: 'mac-7' });
      const options = optionsOf(...agentArguments(spec));
      assert.deepEqual(options, {
        ...optionsOf(),
        nodeName: 'mac-7',
        kubeconfig: '/etc/tart-kubelet/kubeconfig',
        hostCPU: spec.agent.hostCPU,
        hostMemoryMB: spec.agent.hostMemoryMB,
        maxPods: spec.agent.maxPods,
        nodeLabels: spec.agent.nodeLabels,
        providerID: spec.agent.providerID,
        nodeIPSource: 'tailscale',
        disableVMGC: true,
        kubeletVersion: spec.agent.kubeletVersion,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('default to the host name of the Mac', () => {
    const options = optionsOf();
    assert.equal(options.nodeName, 'mac-1.local');
    assert.deepEqual([options.hostCPU, options.hostMemoryMB, options.maxPods, options.vmSlots], [8, 16_384, 2, 2]);
    assert.equal(options.disableVMGC, false);
    assert.equal(options.providerID, undefined);
    assert.equal(options.kubeletVersion, undefined);
  });

  test('reject an unknown flag and suggest the nearest', () => {
    const cases: readonly [string, string][] = [
      ['--provider-ID=secret-value', '--provider-id'],
      ['--disable-gc', '--disable-vm-gc'],
      ['--host-mem-mb=3', '--host-memory-mb'],
      ['--node_name=x', '--node-name'],
      ['--kubelet-versoin=v1.36.3', '--kubelet-version'],
    ];
    for (const [given, nearest] of cases) {
      const [error = '', ...others] = errorsOf(given);
      assert.deepEqual(others, []);
      assert.match(error, new RegExp(`there is no such flag; the nearest is ${nearest}\\.`), given);
      assert.ok(!error.includes('secret-value'));
    }
  });

  test('report all errors at once', () => {
    const errors = errorsOf('--host-cpu=many', '--max-pods=0', '--nonsense', '--provider-id=x', '--vm-slots=3', 'word');
    assert.equal(errors.length, 6);
    assert.ok(errors.some((text) => text.startsWith('--host-cpu: "many" is no whole number.')));
    assert.ok(errors.some((text) => text.startsWith('--vm-slots: "3" is not between 1 and 2.')));
  });

  test('reject malformed labels and those that NodeRestriction forbids', () => {
    const bad = ['a', '=b', 'a b=c', 'a=b c', 'node-restriction.kubernetes.io/x=y', 'example.k8s.io/a=b', 'a=b,'];
    for (const text of bad) assert.equal(errorsOf(`--node-labels=${text}`).length, 1, text);
    const good = ['a=b', 'a=', 'tuist.dev/fleet=x', 'node.kubernetes.io/instance-type=M2-L', ''];
    for (const text of good) optionsOf(`--node-labels=${text}`);
    assert.deepEqual(optionsOf('--node-labels=a=b,tuist.dev/fleet=f').nodeLabels, { a: 'b', 'tuist.dev/fleet': 'f' });
  });

  test('pass the kubelet version on unchanged', () => {
    for (const version of ['v1.36.3', '1.36', 'v1.36.3+tartan.1'])
      assert.equal(optionsOf(`--kubelet-version=${version}`).kubeletVersion, version);
    assert.equal(errorsOf('--kubelet-version=v1 36').length, 1);
  });

  test('accept port 0 for any free port', () => {
    assert.equal(optionsOf('--port=0').port, 0);
    assert.equal(errorsOf('--port=65536').length, 1);
    const asked = parseFlags([], { env: { TART_KUBELET_PORT: '0' }, hostname: 'x' });
    assert.ok('options' in asked && asked.options.port === 0);
  });

  test('prefer the command line to the environment', () => {
    const env = { TART_KUBELET_NODE_NAME: 'from-env', TART_KUBELET_NODE_IP: '10.0.0.9', TART_KUBELET_PROVIDER_ID: '' };
    const asked = parseFlags(['--node-name=from-flag'], { env, hostname: 'x' });
    assert.ok('options' in asked);
    assert.equal(asked.options.nodeName, 'from-flag');
    assert.equal(asked.options.nodeIP, '10.0.0.9');
    assert.equal(asked.options.providerID, undefined);
  });

  test('do not take the next flag for a missing value', () => {
    const [error = ''] = errorsOf('--node-name', '--disable-vm-gc');
    assert.match(error, /^--node-name: has no value/);
    assert.equal(optionsOf('--node-name', 'mac-2', '--disable-vm-gc').nodeName, 'mac-2');
    assert.equal(optionsOf('--disable-vm-gc').disableVMGC, true);
    assert.equal(optionsOf('--disable-vm-gc=false').disableVMGC, false);
  });

  test('require --node-name when the host name is no valid Node name', () => {
    const asked = parseFlags([], { env: {}, hostname: 'Mac mini von Ute' });
    assert.ok('errors' in asked);
    assert.match(asked.errors[0] ?? '', /Set --node-name/);
  });

  test('list every flag in the help, with valid examples', () => {
    const asked = parse('--help');
    assert.ok('help' in asked);
    for (const { name, examples, parse: parseOne } of allFlags) {
      assert.ok(asked.help.includes(`--${name}`), name);
      for (const example of examples) assert.ok('value' in parseOne(example), name);
    }
  });

  test('are parsed without throwing for any input', () => {
    const word = fc.oneof(
      fc.string(),
      fc.tuple(fc.constantFrom(...allFlags.map(({ name }) => name)), fc.string()).map(([a, b]) => `--${a}=${b}`),
    );
    fc.assert(
      fc.property(fc.array(word), fc.string(), (words, hostname) => {
        const asked = parseFlags(words, { env: {}, hostname });
        assert.equal(Object.keys(asked).length, 1);
      }),
    );
  });
});
