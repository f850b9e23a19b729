import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Mac } from '../mac.ts';
import { startMac } from '../start-mac.ts';

describe('script', () => {
  let folder: string;
  let mac: Mac;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-script-'));
    mac = await startMac({ folder });
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true });
  });

  const asks = `[ -t 0 ] && read -r typed; echo "$1: <$typed>"; exit 3`;
  const command = `script -q /dev/null sh -c '${asks}' sh "it is 'quoted'"`;

  it('gives a command a terminal, types its own input into it and shows the echo', async () => {
    // A FIFO that is also open for writing has no end of file.
    const { code, stdout } = await mac.run(`mkfifo typed; exec 3<>typed; echo 'typed ahead' >&3; ${command} <&3`);
    assert.equal(stdout.replaceAll('\r', ''), "typed ahead\nit is 'quoted': <typed ahead>\n");
    assert.equal(code, 3);
  });

  it('gives a terminal whose size and modes stty sets, and which tty prints', async () => {
    const { code, stdout } = await mac.run(
      `script -q /dev/null sh -c 'stty rows 40 columns 120 raw -echo && stty size && tty'`,
    );
    assert.equal(code, 0);
    assert.match(stdout, /^40 120\r?\n\/dev\/\S+\r?\n$/);
  });

  it('types the end of an ended input before its last line', async () => {
    const { stdout } = await mac.run(command, { stdin: 'typed too late\n' });
    assert.match(stdout, /it is 'quoted': <>/);
  });
});
