import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '../mac.ts';
import { startMac } from '../start-mac.ts';
import { type StandInSoftware, standInSoftware } from './stand-in-software.ts';

const contents = (file: string): readonly string[] =>
  execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trimEnd().split('\n');

describe('stand-ins for third-party software', () => {
  let folder: string;
  let mac: Mac;
  let software: StandInSoftware;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-software-'));
    software = await standInSoftware(join(folder, 'software'));
    mac = await startMac({ folder: join(folder, 'mac'), pace: 0.001 });
    for (const path of ['/usr/local/bin', '/opt/actions-runner']) mkdirSync(mac.path(path), { recursive: true });
    for (const [name, { file }] of [
      ['node_exporter', software.nodeExporter],
      ['node', software.node],
      ['packer', software.packer],
      ['crane', software.crane],
      ['oras', software.oras],
    ] as const) {
      copyFileSync(file, mac.path(`/usr/local/bin/${name}`));
      chmodSync(mac.path(`/usr/local/bin/${name}`), 0o755);
    }
    execFileSync('tar', ['-xzf', software.tailscale.file, '-C', mac.path('/usr/local/bin')]);
    execFileSync('tar', ['-xzf', software.actionsRunner.file, '-C', mac.path('/opt/actions-runner')]);
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (command: string, options: { asRoot?: boolean } = {}): Promise<string> => {
    const { code, stdout, stderr } = await mac.run(command, options);
    return `${code ?? 'killed'} ${stdout}${stderr}`.trimEnd();
  };
  const bin = '"$TARTAN_ROOT"/usr/local/bin';
  const runner = 'cd "$TARTAN_ROOT"/opt/actions-runner &&';

  test('have the format of the uploads', () => {
    assert.deepEqual(
      contents(software.tart.file).filter((path) => !path.endsWith('/')),
      [
        'tart.app/Contents/MacOS/tart',
        'tart.app/Contents/Info.plist',
        'tart.app/Contents/_CodeSignature/CodeResources',
      ],
    );
    assert.deepEqual(contents(software.tailscale.file), ['tailscale', 'tailscaled']);
    assert.ok(contents(software.actionsRunner.file).includes('config.sh'));
  });

  test('are reproducible, and differ in the next version', async () => {
    const again = await standInSoftware(join(folder, 'again'));
    const next = await standInSoftware(join(folder, 'next'), { variant: 'b' });
    for (const name of Object.keys(software) as (keyof StandInSoftware)[]) {
      assert.equal(again[name].sha256, software[name].sha256, name);
      assert.notEqual(next[name].sha256, software[name].sha256, name);
    }
  });

  test('are not written again, since a manager may be reading them', async () => {
    const version = (): object => {
      const { ino, mtimeNs, ctimeNs } = statSync(software.tart.file, { bigint: true });
      return { ino, mtimeNs, ctimeNs };
    };
    const before = version();
    await standInSoftware(join(folder, 'software'));
    assert.deepEqual(version(), before);
    assert.equal(readdirSync(join(folder, 'software')).length, Object.keys(software).length, 'and nothing is left');
  });

  test('print their versions', async () => {
    assert.equal(await run(`${bin}/packer version`), '0 Packer v1.14.2');
    assert.equal(await run(`${bin}/crane version`), '0 0.20.6');
    assert.equal(await run(`${bin}/oras version`), '0 Version:        1.3.0');
    assert.equal(await run(`${bin}/tailscale version`), '0 1.96.5');
    assert.match(await run(`${bin}/node_exporter --version`), /^0 node_exporter, version 1\.8\.2/);
    execFileSync('tar', ['-xzf', software.tart.file, '-C', mac.path('/usr/local')]);
    assert.equal(await run('"$TARTAN_ROOT"/usr/local/tart.app/Contents/MacOS/tart --version'), '0 2.32.1');
  });

  test('node is the real program', async () => {
    assert.equal(await run(`${bin}/node -p 6*7`), '0 42');
  });

  test('node runs a script of the Mac, as the user that it has there', async () => {
    const script = `
      import { userInfo } from 'node:os';
      const { uid, username, homedir } = userInfo();
      console.log(uid, username, homedir === process.env.HOME, process.argv.slice(2).join());
    `;
    writeFileSync(mac.path('/usr/local/who.mjs'), script);
    assert.equal(await run(`${bin}/node /usr/local/who.mjs --a --b`), '0 501 m1 true --a,--b');
    assert.equal(await run(`${bin}/node /usr/local/who.mjs`, { asRoot: true }), '0 0 root true');
  });

  test('node exits with the simulator process', async () => {
    // Plays the simulator: a process that ends.
    const script = `
      sleep_forever='setInterval(() => {}, 1 << 30)'
      /bin/sleep 1000 & simulator=$!
      TARTAN_SIM_PID=$simulator ${bin}/node -e "$sleep_forever" & node=$!
      kill $simulator
      wait $simulator 2>/dev/null
      wait $node 2>/dev/null
      echo ended by $?
    `;
    assert.equal(await run(script), '0 ended by 137');
  });

  test('a guest of the fake tart runs its built-in program', async () => {
    const { tart } = await standInSoftware(join(folder, 'with-guest'), { guest: 'echo hello >said\n' });
    assert.ok(contents(tart.file).includes('tart.app/Contents/Resources/guest.sh'));
    mkdirSync(mac.path('/opt/tart'), { recursive: true });
    execFileSync('tar', ['-xzf', tart.file, '-C', mac.path('/opt/tart')]);
    const script = `
      PATH="$TARTAN_ROOT/opt/tart/tart.app/Contents/MacOS:$PATH"
      mkdir -p "$HOME/.tart/.fake/host"; echo Aqua >"$HOME/.tart/.fake/host/session"
      tart clone ghcr.io/a/b:1 vm >/dev/null
      tart run vm --no-graphics >/dev/null 2>&1 &
      until tart exec vm cat said 2>/dev/null; do sleep 10; done
      tart stop vm
      wait
    `;
    assert.equal(await run(script), '0 hello');
  });

  test('node_exporter and tailscaled run until they are killed', async () => {
    mkdirSync(mac.path('/var/lib/tailscale'), { recursive: true });
    const script = `
      ${bin}/node_exporter --web.listen-address=100.64.0.1:9100 & exporter=$!
      ${bin}/tailscaled --state=/var/lib/tailscale/tailscaled.state & daemon=$!
      n=0
      until ${bin}/tailscale status --self --json >/dev/null 2>&1; do n=$((n + 1)); [ $n -lt 500 ] || exit 9; sleep 1; done
      ${bin}/tailscale up --auth-key=tskey-auth-x --timeout=10s && ${bin}/tailscale ip -4
      kill -0 $exporter && kill -0 $daemon && echo both stay
      kill $exporter $daemon
      { wait $exporter; wait $daemon; } 2>/dev/null
      ${bin}/tailscale ip -4 2>/dev/null || echo and are gone
    `;
    assert.match(await run(script, { asRoot: true }), /^0 100\.\S+\nboth stay\nand are gone$/);
  });

  test('config.sh registers once, with a valid token, and not as root', async () => {
    const configure =
      './config.sh --url https://github.com/example --name mac-7 --labels self-hosted,macos --work _work --unattended --replace';
    assert.match(await run(`${runner} ${configure} --token T`, { asRoot: true }), /^1 Must not run with sudo/);
    assert.match(await run(`${runner} ${configure}`), /^1 Invalid configuration provided for token/);
    assert.match(
      await run(`${runner} ${configure} --token expired-1`),
      /^1 Http response code: NotFound[\s\S]*404 \(Not Found\)/,
    );
    assert.match(
      await run(`${runner} ${configure} --token invalid-1`),
      /^1 Http response code: Unauthorized[\s\S]*401/,
    );
    assert.match(
      await run(`${runner} ${configure} --token T --nonsense`),
      /^1 Unrecognized command-line input arguments/,
    );
    assert.equal(existsSync(mac.path('/opt/actions-runner/.runner')), false);
    assert.match(await run(`${runner} ACTIONS_RUNNER_INPUT_TOKEN=T ${configure}`), /^0 Runner successfully added/);
    for (const file of ['.runner', '.credentials', '.credentials_rsaparams', '.path', 'svc.sh'])
      assert.ok(existsSync(mac.path(`/opt/actions-runner/${file}`)), file);
    assert.equal(
      (JSON.parse(readFileSync(mac.path('/opt/actions-runner/.runner'), 'utf8')) as { agentName: string }).agentName,
      'mac-7',
    );
    assert.match(
      await run(`${runner} ${configure} --token T`),
      /^1 Cannot configure the runner because it is already configured/,
    );

    const plist = '/Users/m1/Library/LaunchAgents/actions.runner.example.mac-7.plist';
    assert.match(await run(`${runner} ./svc.sh status`), /^0 not installed/);
    assert.match(await run(`${runner} ./svc.sh install m1`), /^0 svc install complete/);
    assert.match(readFileSync(mac.path(plist), 'utf8'), /<string>actions\.runner\.example\.mac-7<\/string>/);
    assert.match(await run(`${runner} ./svc.sh install m1`), /^1 Failed: error: exists/);
    assert.match(await run('cd / && "$TARTAN_ROOT"/opt/actions-runner/svc.sh status'), /^1 Must run from runner root/);
    assert.match(await run(`${runner} ./svc.sh install m1`, { asRoot: true }), /^1 Must not run with sudo/);
    const service = `cd "$TARTAN_ROOT"/opt/actions-runner || exit
      : >said
      ./runsvc.sh >said & pid=$!
      until grep -q Listening said; do sleep 1; done
      kill $pid; wait $pid 2>/dev/null; echo ended by $?`;
    assert.equal(await run(service), '0 ended by 143');
    assert.match(await run(`${runner} ./svc.sh uninstall`), /^0/);
    assert.equal(existsSync(mac.path(plist)), false);
    assert.match(await run(`${runner} ./config.sh remove --token T`), /^0 Runner removed successfully/);
    assert.equal(existsSync(mac.path('/opt/actions-runner/.runner')), false);
  });
});
