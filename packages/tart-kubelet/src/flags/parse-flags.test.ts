import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { agentArguments } from '@tartan/host';
import { exampleSpec } from '@tartan/host/testing';
import { everyFlag } from './flag-table.ts';
import { parseFlags } from './parse-flags.ts';

const surroundings = { env: {}, hostname: 'Mac-1.local' };
const parse = (...words: string[]) => parseFlags(words, surroundings);
const optionsOf = (...words: string[]) => {
  const asked = parse(...words);
  assert.equal(asked.kind, 'run', JSON.stringify(asked));
  return asked.kind === 'run' ? asked.options : assert.fail();
};
const errorsOf = (...words: string[]): readonly string[] => {
  const asked = parse(...words);
  return asked.kind === 'errors' ? asked.errors : assert.fail(JSON.stringify(asked));
};

describe('the flags of the agent', () => {
  test('everything that the host steps pass is understood', async () => {
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

  test('with nothing told it is the Node of its Mac', () => {
    const options = optionsOf();
    assert.equal(options.nodeName, 'mac-1.local');
    assert.deepEqual([options.hostCPU, options.hostMemoryMB, options.maxPods, options.vmSlots], [8, 16_384, 2, 2]);
    assert.equal(options.disableVMGC, false);
    assert.equal(options.providerID, undefined);
    assert.equal(options.kubeletVersion, undefined);
  });

  test('a flag that does not exist is an error that names the nearest', () => {
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

  test('all that is wrong is said at once', () => {
    const errors = errorsOf('--host-cpu=many', '--max-pods=0', '--nonsense', '--provider-id=x', '--vm-slots=3', 'word');
    assert.equal(errors.length, 6);
    assert.ok(errors.some((text) => text.startsWith('--host-cpu: "many" is no whole number.')));
    assert.ok(errors.some((text) => text.startsWith('--vm-slots: "3" is not between 1 and 2.')));
  });

  test('labels that are malformed, or that a Node may not give itself, are errors', () => {
    const bad = ['a', '=b', 'a b=c', 'a=b c', 'node-restriction.kubernetes.io/x=y', 'example.k8s.io/a=b', 'a=b,'];
    for (const text of bad) assert.equal(errorsOf(`--node-labels=${text}`).length, 1, text);
    const good = ['a=b', 'a=', 'tuist.dev/fleet=x', 'node.kubernetes.io/instance-type=M2-L', ''];
    for (const text of good) optionsOf(`--node-labels=${text}`);
    assert.deepEqual(optionsOf('--node-labels=a=b,tuist.dev/fleet=f').nodeLabels, { a: 'b', 'tuist.dev/fleet': 'f' });
  });

  test('the version that the Node reports is taken to the letter', () => {
    for (const version of ['v1.36.3', '1.36', 'v1.36.3+tartan.1'])
      assert.equal(optionsOf(`--kubelet-version=${version}`).kubeletVersion, version);
    assert.equal(errorsOf('--kubelet-version=v1 36').length, 1);
  });

  test('the port of the kubelet API may be any free one', () => {
    assert.equal(optionsOf('--port=0').port, 0);
    assert.equal(errorsOf('--port=65536').length, 1);
    const asked = parseFlags([], { env: { TART_KUBELET_PORT: '0' }, hostname: 'x' });
    assert.ok(asked.kind === 'run' && asked.options.port === 0);
  });

  test('the command line comes before the environment', () => {
    const env = { TART_KUBELET_NODE_NAME: 'from-env', TART_KUBELET_NODE_IP: '10.0.0.9', TART_KUBELET_PROVIDER_ID: '' };
    const asked = parseFlags(['--node-name=told'], { env, hostname: 'x' });
    assert.ok(asked.kind === 'run');
    assert.equal(asked.options.nodeName, 'told');
    assert.equal(asked.options.nodeIP, '10.0.0.9');
    assert.equal(asked.options.providerID, undefined);
  });

  test('a value that was forgotten eats no flag', () => {
    const [error = ''] = errorsOf('--node-name', '--disable-vm-gc');
    assert.match(error, /^--node-name: has no value/);
    assert.equal(optionsOf('--node-name', 'mac-2', '--disable-vm-gc').nodeName, 'mac-2');
    assert.equal(optionsOf('--disable-vm-gc').disableVMGC, true);
    assert.equal(optionsOf('--disable-vm-gc=false').disableVMGC, false);
  });

  test('a Mac whose name is no name of a Node has to be told one', () => {
    const asked = parseFlags([], { env: {}, hostname: 'Mac mini von Ute' });
    assert.ok(asked.kind === 'errors');
    assert.match(asked.errors[0] ?? '', /Tell --node-name/);
  });

  test('the help names every flag, and the examples are taken', () => {
    const asked = parse('--help');
    assert.ok(asked.kind === 'help');
    for (const { name, example, parse: parseOne } of everyFlag) {
      assert.ok(asked.text.includes(`--${name}`), name);
      assert.ok('value' in parseOne(example), name);
    }
    assert.equal(parse('--version').kind, 'version');
  });

  test('whatever is given has an answer', () => {
    const word = fc.oneof(
      fc.string(),
      fc.tuple(fc.constantFrom(...everyFlag.map(({ name }) => name)), fc.string()).map(([a, b]) => `--${a}=${b}`),
    );
    fc.assert(
      fc.property(fc.array(word), fc.string(), (words, hostname) => {
        const asked = parseFlags(words, { env: {}, hostname });
        assert.ok(['run', 'help', 'version', 'errors'].includes(asked.kind));
      }),
    );
  });
});
