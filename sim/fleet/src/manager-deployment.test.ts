import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { createManagerDeployment } from './manager-deployment.ts';

/** Sends its PID to the port, and then acts by its first argument. */
const program = `
import { connect } from 'node:net';
const [what, port] = process.argv.slice(2);
const socket = connect(Number(port), '127.0.0.1', () => socket.write(process.pid + '\\n'));
socket.on('close', () => process.exit(1));
process.stderr.write('it starts\\n');
if (what === 'refuses') { process.stderr.write('--x: there is no such flag\\n'); process.exit(2); }
if (what === 'gives back') process.once('SIGTERM', () => { process.stderr.write('given back\\n'); process.exit(0); });
`;

describe('a manager deployment', { timeout: 60_000 }, () => {
  let folder: string;
  let port: string;
  const server = createServer();
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tartan-providers-'));
    await writeFile(join(folder, 'manager.mjs'), program);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    port = String(address !== null && typeof address === 'object' ? address.port : 0);
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const staged = (t: TestContext) => {
    const crashes: (number | null)[] = [];
    const log = join(folder, `${Math.random()}.log`);
    const providers = createManagerDeployment({
      program: join(folder, 'manager.mjs'),
      environment: {},
      log,
      onCrash: (code) => crashes.push(code),
    });
    // A manager that is left running by a failed test would keep this process alive.
    t.after(providers.stop);
    return { providers, crashes, log };
  };
  const next = async (): Promise<Socket> => {
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => {});
    // A socket that nobody reads does not close when its manager has ended.
    socket.resume();
    return socket;
  };

  test('restarts a killed manager and reports the crash', async (t) => {
    const { providers, crashes } = staged(t);
    const first = next();
    await providers.replace(['waits', port]);
    await first;
    const [manager] = providers.running();
    const second = next();
    manager?.kill('SIGKILL');
    await second;
    assert.deepEqual(crashes, [null]);
    const [again] = providers.running();
    assert.notEqual(again?.pid, manager?.pid);
    assert.equal(again?.restarts, 1);
    await providers.stop();
    assert.deepEqual(providers.running(), []);
  });

  test('replaced managers can release their lease first, also when they were stopped by SIGSTOP', async (t) => {
    const { providers, log } = staged(t);
    const first = next();
    await providers.replace(['gives back', port]);
    await first;
    providers.running()[0]?.kill('SIGSTOP');
    const second = next();
    await providers.replace(['waits', port]);
    await second;
    await providers.stop();
    assert.match(await readFile(log, 'utf8'), /^it starts\ngiven back\nit starts\n$/);
  });

  test('does not restart a manager that rejects its flags', async (t) => {
    const { providers, crashes } = staged(t);
    await providers.replace(['refuses', port]);
    await assert.rejects(providers.failure, /does not start: it starts\n--x: there is no such flag/);
    assert.deepEqual(crashes, []);
  });
});
