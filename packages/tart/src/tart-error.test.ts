import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noSpaceTexts } from '@tartan/sim-mac';
import fc from 'fast-check';
import { classifyError, isTartError, TartError, type TartReason } from './tart-error.ts';

describe('classification of tart errors', () => {
  const table: readonly (readonly [command: string, code: number, text: string, reason: TartReason])[] = [
    ['get', 2, 'the specified VM "x" does not exist\n', 'missing'],
    ['run', 1, 'Error: the specified VM "x" does not exist\n', 'missing'],
    ['delete', 2, 'the specified VM "ghcr.io/a/b:1" does not exist\n', 'missing'],
    ['run', 2, 'VM "mac-1" is already running!\n', 'already running'],
    ['run', 1, 'Error: Error Domain=VZErrorDomain Code=2 "Failed to lock auxiliary storage."\n', 'already running'],
    ['stop', 2, 'VM "mac-1" is not running\n', 'not running'],
    ['exec', 2, 'VM "x" is not running\n', 'not running'],
    ['delete', 1, 'VM "mac-1" is running\n', 'running'],
    ...noSpaceTexts.map((text) => ['pull', 1, `${text}\n`, 'no space'] as const),
    ['pull', 1, 'The volume “Macintosh HD” is out of space.', 'no space'],
    ['pull', 1, 'You can’t save the file because there isn’t enough space.', 'no space'],
    ['run', 1, 'The number of VMs exceeds the system limit (other running VMs: a, b)\n', 'VM limit reached'],
    ['run', 1, 'Error: Error Domain=VZErrorDomain Code=-9 "…"', 'no GUI session'],
    ['run', 1, 'NSLocalizedFailure=Failed to create new HostKey.', 'no GUI session'],
    ['run', 1, 'The user name or passphrase of the login keychain is not correct', 'no GUI session'],
    ['run', 1, 'The number of VMs exceeds the system limit\n', 'VM limit reached'],
    ['run', 1, 'Error Domain=VZErrorDomain Code=1 "The virtual machine failed to start."', 'start refused'],
    ['run', 1, 'Error Domain=VZErrorDomain Code=7 "…"', 'start refused'],
    ['run', 1, 'Error Domain=VZErrorDomain Code=2 "…"', 'invalid'],
    ['run', 1, 'Error Domain=VZErrorDomain Code=5 "The disk image is corrupted."', 'invalid'],
    ['run', 1, 'Error: error: host macOS version is outdated to run this virtual machine', 'invalid'],
    ['run', 1, 'Error: UnsupportedArchitectureError()', 'invalid'],
    ['run', 64, "Error: Disk format 'asif' is not supported on this system.", 'invalid'],
    ['pull', 1, 'Keychain returned unsuccessful status -25308', 'other'],
    [
      'exec',
      1,
      'Failed to connect to the VM using its control socket: x, is the Tart Guest Agent running?\n',
      'guest agent unreachable',
    ],
    ['set', 1, 'LessThanMinimalResourcesError: VM should have 4 CPU cores at minimum (requested 1)', 'invalid'],
    ['run', 1, '"A directory sharing device configuration is invalid."', 'invalid'],
    ['list', 64, "Error: Unknown option '--what'\nUsage: tart", 'invalid'],
    [
      'pull',
      1,
      'Error: UnexpectedHTTPStatusCode(when: "pulling manifest", code: 401, details: "")',
      'registry refused',
    ],
    ['ip', 1, 'no IP address found, is your VM running?\n', 'other'],
    ['get', 1, 'VM is missing some of its files (config.json, disk.img or nvram.bin)\n', 'other'],
    ['get', 2, '', 'other'],
    // Text that tart never writes (INC-49).
    ['get', 1, 'VM not found', 'other'],
  ];
  for (const [command, code, text, reason] of table)
    test(`${command}, ${code}, ${JSON.stringify(text.trim())} is ${reason}`, () =>
      assert.equal(classifyError(command, code, text), reason));

  test('returns a reason for every text', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.option(fc.integer({ min: 0, max: 255 }), { nil: undefined }),
        (text, code) => typeof classifyError('run', code, text) === 'string',
      ),
    );
  });
});

test('a TartError is recognised by its reason', () => {
  const cause = new Error('no disk');
  const error = new TartError('no space', 'm', { command: 'pull', tail: 't', cause });
  assert.deepEqual([error.name, error.command, error.tail, error.cause], ['TartError', 'pull', 't', cause]);
  assert.equal(new TartError('other', 'm', { command: 'get' }).tail, '');
  assert.deepEqual(
    [isTartError(error), isTartError(error, 'other', 'no space'), isTartError(error, 'other'), isTartError(cause)],
    [true, true, false, false],
  );
});
