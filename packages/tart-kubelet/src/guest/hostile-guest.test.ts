import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { removeUntrustedFolder } from './guest-folder.ts';
import { readGuestResult } from './guest-status.ts';

describe('the result that a guest reports', () => {
  let status: string;
  let file: string;
  before(() => {
    status = mkdtempSync(join(tmpdir(), 'status-'));
    file = join(status, 'runner-rc');
  });
  after(() => rmSync(status, { recursive: true }));
  const codeOf = async (text: string): Promise<number | undefined> => {
    writeFileSync(file, text);
    return (await readGuestResult(status))?.code;
  };

  it('is absent when there is none', async () => assert.equal(await readGuestResult(join(status, 'no')), undefined));

  it('is any number from 0 to 255, as a shell writes it', async () => {
    for (let code = 0; code <= 255; code += 1) assert.equal(await codeOf(`${code}\n`), code);
    assert.equal(await codeOf('7'), 7);
    assert.equal(await codeOf('7\r\n'), 7);
  });

  it('is absent when it is anything else (INC-33)', async () => {
    const others = [
      '',
      '\n',
      '256',
      '999',
      '65536',
      '4294967296',
      '-1',
      '+1',
      '1.0',
      '1e1',
      '0x1',
      ' 1',
      '1 2',
      'ok',
      '٣',
    ];
    for (const text of [...others, '1\0', '0\n1', `0${' '.repeat(20)}`])
      assert.equal(await codeOf(text), undefined, text);
  });

  it('is a number from 0 to 255 or absent, whatever the guest writes', () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.integer().map(String)), async (text) => {
        const code = await codeOf(text);
        assert.ok(code === undefined || (code >= 0 && code <= 255 && Number.parseInt(text, 10) === code));
      }),
      { numRuns: 200 },
    ));

  it('has the modification time of its file', async () => {
    writeFileSync(file, '3');
    utimesSync(file, 1000, 1000);
    assert.deepEqual(await readGuestResult(status), { code: 3, at: 1_000_000 });
  });

  const planted: readonly (readonly [string, () => void])[] = [
    ['a link to a file of the Mac', () => symlinkSync(join(status, 'real'), file)],
    ['a link to nowhere', () => symlinkSync(join(status, 'nowhere'), file)],
    ['a pipe', () => execFileSync('mkfifo', [file])],
    ['a folder', () => mkdirSync(file)],
    [
      'a file of a terabyte',
      () => {
        writeFileSync(file, '0');
        truncateSync(file, 2 ** 40);
      },
    ],
  ];
  for (const [what, plant] of planted)
    it(`is absent when it is ${what} (INC-34)`, { timeout: 60_000 }, async () => {
      writeFileSync(join(status, 'real'), '0');
      rmSync(file, { recursive: true, force: true });
      plant();
      assert.equal(await readGuestResult(status), undefined);
      rmSync(file, { recursive: true, force: true });
    });
});

describe('removal of a guest folder', () => {
  let outside: string;
  before(() => {
    outside = mkdtempSync(join(tmpdir(), 'left-'));
  });
  after(() => rmSync(outside, { recursive: true }));
  const vm = () => join(outside, 'vm');

  it('removes symlinks but not their targets', async () => {
    mkdirSync(join(outside, 'host/inner'), { recursive: true });
    writeFileSync(join(outside, 'host/file'), 'kept');
    mkdirSync(join(vm(), 'status/a/b'), { recursive: true });
    symlinkSync(join(outside, 'host'), join(vm(), 'status/folder'));
    symlinkSync(join(outside, 'host/file'), join(vm(), 'status/a/b/file'));
    execFileSync('mkfifo', [join(vm(), 'status/a/pipe')]);
    await removeUntrustedFolder(vm());
    assert.ok(!existsSync(vm()));
    assert.ok(existsSync(join(outside, 'host/inner')) && existsSync(join(outside, 'host/file')));
  });

  it('removes folders nested deeper than PATH_MAX', async () => {
    mkdirSync(vm());
    const script = 'for i in $(seq 40); do mkdir -p "$0" && cd -P "$0" || exit 1; done; echo x > file';
    execFileSync('sh', ['-c', script, 'd'.repeat(200)], { cwd: vm() });
    await removeUntrustedFolder(vm());
    assert.ok(!existsSync(vm()));
  });

  it('removes folders without permissions', async () => {
    const script = `
      import { removeUntrustedFolder } from ${JSON.stringify(new URL('guest-folder.ts', import.meta.url).href)};
      await removeUntrustedFolder(process.argv[1]);`;
    // Permissions do not apply to root.
    const somebody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    chmodSync(outside, 0o777);
    execFileSync(
      'sh',
      ['-c', 'mkdir -p "$0/s/a/b/c" && touch "$0/s/a/b/c/f" && chmod 0 "$0/s/a/b/c" "$0/s/a/b" "$0/s/a" "$0/s"', vm()],
      somebody,
    );
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, vm()], somebody);
    assert.equal(status, 0, String(stderr));
    assert.ok(!existsSync(vm()));
  });

  it('removes only the symlink when the folder itself is one', async () => {
    mkdirSync(join(outside, 'elsewhere/x'), { recursive: true });
    symlinkSync(join(outside, 'elsewhere'), vm());
    await removeUntrustedFolder(vm());
    assert.ok(!existsSync(vm()) && existsSync(join(outside, 'elsewhere/x')));
  });

  it('succeeds when there is no folder', () => removeUntrustedFolder(vm()));
});
