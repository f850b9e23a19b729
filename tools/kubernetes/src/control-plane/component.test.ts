import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type Component, type ComponentSpec, freePorts, startComponent, type StartOptions } from './component.ts';

test('free ports are all different, and can be bound', async () => {
  const ports = await freePorts(20);
  assert.equal(new Set(ports).size, 20);
  for (const port of ports.slice(0, 3)) {
    const server = createServer();
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    await new Promise((closed) => server.close(closed));
  }
});

/** A component that is a few lines of JavaScript; `port` is its port. */
const script = (text: string): ComponentSpec => ({
  name: 'fake',
  binary: process.execPath,
  portCount: 1,
  args: ([port]) => ['-e', `const port = ${port}; ${text}`],
  isReady: async ([port], signal) => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal });
    return (await answer.text()) === 'fake';
  },
});

const serving = `require('http').createServer((_, res) => res.end('fake')).listen(port, '127.0.0.1');`;

const options = (t: TestContext): StartOptions & { spawned: Component[] } => {
  const dir = mkdtempSync(join(tmpdir(), 'tartan-component-'));
  const spawned: Component[] = [];
  t.after(async () => {
    for (const component of spawned) await component.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return { dir, deadlineMilliseconds: 60_000, spawned, onSpawn: (component) => spawned.push(component) };
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a component is ready when its probe succeeds, logs to its file, and is gone after stop', async (t) => {
  const settings = options(t);
  const component = await startComponent(script(`console.log('hello'); ${serving}`), settings);
  assert.ok(isAlive(component.pid));
  assert.equal(readFileSync(join(settings.dir, 'fake.log'), 'utf8'), 'hello\n');
  await Promise.all([component.stop(), component.stop()]);
  assert.ok(!isAlive(component.pid));
});

test('a component that exits before it is ready is an error with its exit code and the end of its log', async (t) => {
  const text = `for (let i = 0; i < 100; i++) console.log('line ' + i); process.exit(3);`;
  await assert.rejects(startComponent(script(text), options(t)), (error: unknown) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, /^fake ended with exit code 3 before it was ready; the end of its log:\n.*line 99$/s);
    assert.doesNotMatch(error.message, /line 9\n/);
    return true;
  });
});

test('a component that is not ready in time is stopped', async (t) => {
  const settings = { ...options(t), deadlineMilliseconds: 200 };
  await assert.rejects(
    startComponent(script('setInterval(() => {}, 1000);'), settings),
    /fake was not ready within 0\.2 s/,
  );
  assert.ok(settings.spawned.every(({ pid }) => !isAlive(pid)));
});

test('a missing binary is an error that names it', async (t) => {
  const spec = { ...script(''), binary: '/nonexistent/fake' };
  await assert.rejects(
    startComponent(spec, options(t)),
    /fake ended with exit code 127 before it was ready; .*\/nonexistent\/fake/s,
  );
});

/** A port that somebody else listens on. */
const takenPort = async (t: TestContext): Promise<number> => {
  const stranger = createServer((socket) => socket.destroy());
  t.after(() => stranger.close());
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  return (stranger.address() as AddressInfo).port;
};

test('a port in use costs another attempt with another port', async (t) => {
  const settings = options(t);
  const taken = await takenPort(t);
  const chosen: number[] = [];
  const choosePorts = async (): Promise<number[]> => {
    const ports = chosen.length < 2 ? [taken] : await freePorts(1);
    chosen.push(...ports);
    return ports;
  };
  const component = await startComponent(script(serving), { ...settings, choosePorts });
  assert.deepEqual(component.ports, chosen.slice(-1));
  assert.notEqual(chosen.at(-1), taken);
  assert.equal(settings.spawned.length, chosen.length);
});

test('the start fails when every port is in use', async (t) => {
  const settings = options(t);
  const taken = await takenPort(t);
  await assert.rejects(
    startComponent(script(serving), { ...settings, choosePorts: async () => [taken] }),
    /EADDRINUSE/,
  );
  assert.equal(settings.spawned.length, 5);
});

test('a component that ignores SIGTERM is killed', async (t) => {
  const settings = { ...options(t), stopMilliseconds: 100 };
  const component = await startComponent(script(`process.on('SIGTERM', () => {}); ${serving}`), settings);
  await component.stop();
  assert.ok(!isAlive(component.pid));
});

test('a component ends with its owner, even when the owner is killed', { timeout: 60_000 }, async (t) => {
  const { dir } = options(t);
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // The component ends with this connection, so that it does not outlive a failed test.
  const spec = `{
    name: 'fake',
    binary: process.execPath,
    portCount: 0,
    args: () => ['-e', "require('net').connect(${port}, '127.0.0.1').on('error', () => {})"],
    isReady: async () => true,
  }`;
  const text = `
    import { startComponent } from ${JSON.stringify(join(import.meta.dirname, 'component.ts'))};
    await startComponent(${spec}, { dir: ${JSON.stringify(dir)}, deadlineMilliseconds: 60_000 });`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.after(() => owner.kill('SIGKILL'));
  const [connection] = (await once(server, 'connection')) as [Socket];
  t.after(() => connection.destroy());
  connection.on('error', () => {}).resume();
  owner.kill('SIGKILL');
  await once(connection, 'close');
});
