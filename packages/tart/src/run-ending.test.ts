import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type RunEnding, runEnding } from './run-ending.ts';

describe('why a virtual machine is not on any more', () => {
  const lock = 'The number of VMs exceeds the system limit (other running VMs: a, b)';
  const notStarted =
    'Error Domain=VZErrorDomain Code=1 "The virtual machine failed to start." UserInfo={NSLocalizedFailure=Internal Virtualization error.}';
  const table: readonly (readonly [
    what: string,
    code: number | undefined,
    signal: string | undefined,
    log: string,
    kind: RunEnding['kind'],
  ])[] = [
    ['the guest shut down', 0, undefined, 'guest has stopped the virtual machine\n', 'halted'],
    ['somebody stopped it', 0, undefined, 'Stopping VM...\n', 'stopped'],
    [
      'the framework gave up, with exit code 0 (G9)',
      0,
      undefined,
      'guest has stopped the virtual machine due to error: x\n',
      'crashed',
    ],
    [
      'its network went, with exit code 0',
      0,
      undefined,
      // openai/tart VM.swift:474
      "virtual machine's network attachment <VZVirtioNetworkDevice: 0x600> has been disconnected with error: x\n",
      'crashed',
    ],
    [
      'nobody saw it end, and its network went',
      undefined,
      undefined,
      "virtual machine's network attachment <VZVirtioNetworkDevice: 0x600> has been disconnected with error: x\n",
      'crashed',
    ],
    ['it did not start, in words that nobody knows', 1, undefined, 'out of cheese\n', 'failed'],
    ['nobody saw it end, and it did not start', undefined, undefined, `${notStarted}\n`, 'failed'],
    ['no slot', 1, undefined, lock, 'failed'],
    ['tart could not stop a guest that was on', 1, undefined, `Stopping VM...\n${notStarted}\n`, 'crashed'],
    ['a signal', undefined, 'SIGKILL', '', 'killed'],
    ['nobody saw it end, and it wrote nothing', undefined, undefined, '', 'unknown'],
    ['nobody saw it end, but it said why', undefined, undefined, lock, 'failed'],
    ['nobody saw it end, and it was stopped', undefined, undefined, 'Stopping VM...\n', 'stopped'],
    ['0 without a word', 0, undefined, 'something else\n', 'unknown'],
  ];
  for (const [what, code, signal, log, kind] of table)
    test(what, () => assert.equal(runEnding({ code, signal }, log).kind, kind));

  test('a failure has its reason, and no secret', () => {
    const ending = runEnding({ code: 1, signal: undefined }, `VNC server is running at vnc://:secret@x\n${lock}\n`);
    assert.ok(ending.kind === 'failed');
    assert.equal(ending.reason, 'VM limit reached');
    assert.ok(!ending.message.includes('secret'));
  });

  test('has an answer for everything', () => {
    fc.assert(
      fc.property(fc.option(fc.nat(255), { nil: undefined }), fc.string(), (code, log) => {
        assert.ok(runEnding({ code, signal: undefined }, log).kind.length > 0);
      }),
    );
  });
});
