import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { ensureBinaries } from '@tartan/tools-kubernetes';
import { commandsOf } from './tutorial/commands.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');

/** The expected output of each command, by its beginning. All others must only succeed. */
const expectations: readonly (readonly [begins: string, prints: RegExp])[] = [
  ['kubectl get machinedeployments', /tartan-macos[\s\S]*tartan-runners[\s\S]*Running/],
  ['kubectl get nodes -L', /Ready[\s\S]*macos/],
  ['npm run -s tartan -- fleet', /tartan-macos-/],
  ['npm run -s tartan -- explain', /Ready/],
  ['kubectl logs my-build', /The guest has booted/],
  ['kubectl exec my-build', /^hello from the guest$/m],
  ['npm run -s tartan -- runners', /macos-runner-/],
  ['npm run -s tartan -- fault queue-jobs', /All \d+ jobs succeeded/],
  ['npm run -s tartan -- fault list', /no-op-kickstart/],
  ['npm run -s tartan -- fault no-op-kickstart', /The rollout of \S+ has stopped: [\s\S]*is on every Mac/],
  ['npm run -s tartan -- fault fleet-wide-roll', /All \d machines run agent/],
];

/** CI has already run the first line. */
const isDone = (command: string): boolean => command === 'npm ci';

describe('docs/tutorial.md', () => {
  // A checkout like a new user's, with links to our folders: files that the tutorial creates stay out of the repository.
  const checkout = mkdtempSync(join(tmpdir(), 'tartan-tutorial-'));
  const temporary = join(checkout, 'tmp');
  let fleet: ChildProcess | undefined;
  let said = '';
  let path: string;

  before(async () => {
    mkdirSync(temporary);
    for (const name of readdirSync(root))
      if (name !== 'fleet' && name !== '.git') symlinkSync(join(root, name), join(checkout, name));
    // npm resolves paths relative to it.
    rmSync(join(checkout, 'package.json'));
    cpSync(join(root, 'package.json'), join(checkout, 'package.json'));
    const { kubectl } = await ensureBinaries(['kubectl']);
    path = `${dirname(kubectl)}:${process.env['PATH']}`;
  });
  after(async () => {
    if (fleet !== undefined && fleet.exitCode === null && fleet.signalCode === null) {
      process.kill(-(fleet.pid ?? 0), 'SIGTERM');
      await once(fleet, 'close');
    }
    rmSync(checkout, { recursive: true, force: true });
  });

  const shell = (command: string): ChildProcess =>
    spawn('sh', ['-c', command], {
      cwd: checkout,
      env: { ...process.env, PATH: path, HOME: checkout, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
  const onOutput = (child: ChildProcess, listener: (text: string) => void): void => {
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', listener);
  };

  /** Keeps running; resolves when it has printed what to try. */
  const startFleet = (command: string): Promise<void> =>
    new Promise((resolve, reject) => {
      fleet = shell(command);
      onOutput(fleet, (text) => {
        said += text;
        if (said.includes('Ctrl-C stops the fleet')) resolve();
      });
      fleet.once('close', () => reject(new Error(`it ended:\n${said}`)));
    });

  /** The reader uses one shell for all commands: exports and variables persist. */
  const commands = commandsOf(page);
  const kept: string[] = [];

  test('has commands, and every command with an expected output is among them', () => {
    assert.ok(commands.length > 15);
    for (const [begins] of expectations)
      assert.ok(
        commands.some((command) => command.startsWith(begins)),
        begins,
      );
  });

  for (const command of commands.filter((each) => !isDone(each)))
    test(command, async () => {
      if (command.startsWith('npm start')) return startFleet(command);
      if (/^(export )?[A-Z]+=/.test(command)) kept.push(command);
      const [, prints] = expectations.find(([begins]) => command.startsWith(begins)) ?? [];
      for (;;) {
        const child = shell([...kept, command].join('\n'));
        let output = '';
        onOutput(child, (text) => {
          output += text;
        });
        const [code] = (await once(child, 'close')) as [number | null];
        assert.equal(code, 0, `${output}\n--- the fleet:\n${said.slice(-3000)}`);
        // The guest writes its log a little later: a reader would try again.
        if (command.startsWith('kubectl logs') && output === '') continue;
        if (prints !== undefined) assert.match(output, prints);
        break;
      }
      return undefined;
    });

  test('Ctrl-C ends the fleet, and leaves no process and no temporary file', async () => {
    assert.ok(fleet?.pid !== undefined);
    const ended = once(fleet, 'close');
    // A terminal sends it to all processes of the foreground.
    process.kill(-fleet.pid, 'SIGINT');
    await ended;
    const ourProcesses = (): string[] =>
      execFileSync('ps', ['-A', '-o', 'command='], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.includes(checkout));
    await eventually(`no process is left of ${checkout}`, () => ourProcesses().length === 0);
    const ofNpm = ['node-compile-cache'];
    assert.deepEqual(
      readdirSync(temporary).filter((name) => !ofNpm.includes(name)),
      [],
    );
  });
});
