import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Mac, type StandInSoftware, standInSoftware } from '@tartan/sim-mac';
import type { GhActionsRunner, HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec, putInStore } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { actionsRunner } from './builder.ts';
import { autoLogin } from './preparation.ts';

const token = 'AABBCCDD-registration-token';
const secrets = { actionsRunnerToken: token };
const job = 'actions.runner.example.mac-7.fleet_a';
const folder = '/opt/actions-runner';

describe('the step actions-runner', () => {
  let macs: FreshMacs;
  let software: StandInSoftware;
  let newer: StandInSoftware;
  let shared: Mac;
  before(async () => {
    macs = freshMacs();
    software = await standInSoftware(join(macs.folder, 'software'));
    newer = await standInSoftware(join(macs.folder, 'software'), { variant: 'b' });
    shared = await startBuilder();
  });
  after(() => macs.stopAll());

  const specWith = (change: Partial<GhActionsRunner> = {}): HostSpec => {
    const spec = exampleSpec(macs.folder);
    assert.ok(spec.ghActionsRunner);
    return { ...spec, ghActionsRunner: { ...spec.ghActionsRunner, runner: software.actionsRunner, ...change } };
  };
  const noBuilder = (): HostSpec => {
    const { ghActionsRunner: _, ...rest } = exampleSpec(macs.folder);
    return rest;
  };
  const startBuilder = async (options: { traceArguments?: boolean } = {}): Promise<Mac> => {
    const mac = await macs.start(options);
    await runStep(mac, autoLogin, noBuilder(), { secrets: { userPassword: mac.user.password } });
    assert.equal(mac.guiSession(), 'Aqua');
    putInStore(mac, software.actionsRunner, newer.actionsRunner);
    return mac;
  };
  /** A Mac with a console session and no runner. One Mac for all tests: logging in takes most of their time. */
  const builder = async (): Promise<Mac> => {
    await runStep(shared, actionsRunner, noBuilder());
    return shared;
  };
  const inFolder = (mac: Mac, file: string): string => readFileSync(mac.path(`${folder}/${file}`), 'utf8');
  /** The URL, name and labels of its registration. */
  const registration = (mac: Mac): string => {
    const { gitHubUrl, agentName, labels } = JSON.parse(inFolder(mac, '.runner')) as Record<string, string>;
    return `${gitHubUrl} ${agentName} ${labels}`;
  };
  /** They change with each registration. */
  const credentials = (mac: Mac): string => inFolder(mac, '.credentials');

  it('registers and starts a runner in the console session, and a second run changes nothing', async () => {
    const spec = specWith();
    const mac = await builder();
    const first = await runStep(mac, actionsRunner, spec, { secrets });
    assert.equal(first.result, 'applied', first.stderr);
    assert.equal(registration(mac), 'https://github.com/example mac-7.fleet_a macos,self-hosted');
    const running = mac.job(job);
    assert.equal(running?.state, 'running');
    assert.equal(inFolder(mac, '.path'), '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin');
    assert.equal((await mac.run(`launchctl print gui/501/${job}`, { asRoot: true })).code, 0);
    const { ino } = statSync(mac.path(folder));

    const recorded = mac.journal.entries.length;
    assert.equal((await runStep(mac, actionsRunner, spec)).result, 'unchanged');
    assert.equal(mac.job(job)?.pid, running?.pid);
    assert.equal(statSync(mac.path(folder)).ino, ino);
    assert.deepEqual(
      mac.journal.entries.slice(recorded).filter(({ what }) => what.startsWith('launchd.')),
      [],
    );
  });

  it('types the token, and shows it in no process or log', async () => {
    const spec = specWith();
    const mac = await startBuilder({ traceArguments: true });
    const { stdout, stderr, result } = await runStep(mac, actionsRunner, spec, { secrets });
    assert.equal(result, 'applied', stderr);
    const { stdout: files } = await mac.run(`grep -rl ${token} ${mac.root} || true`, { asRoot: true });
    // The searching command is itself in the journal.
    const journal = mac.journal.entries.filter(
      ({ detail }) => !detail.startsWith('grep') && !detail.includes('grep -rl'),
    );
    assert.ok(journal.some(({ what, detail }) => what === 'argv' && detail.includes('config.sh')));
    for (const text of [stdout, stderr, files, JSON.stringify(journal)]) assert.ok(!text.includes(token));
    assert.equal(files, '');
  });

  it('leaves a healthy runner alone when the token is stale, and says what to do', async () => {
    const spec = specWith();
    const mac = await builder();
    await runStep(mac, actionsRunner, spec, { secrets });
    const before = mac.job(job);

    const relabelled = specWith({ labels: ['macos', 'bake'] });
    const stale = { actionsRunnerToken: 'AABB-expired' };
    const failed = await runStep(mac, actionsRunner, relabelled, { secrets: stale });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /404 \(Not Found\)/);
    assert.match(failed.stderr, /Is the registration token less than an hour old\?/);
    assert.ok(!failed.stderr.includes('AABB-expired'));
    assert.deepEqual(mac.job(job), before);
    assert.equal((await runStep(mac, actionsRunner, spec)).result, 'unchanged');
  });

  it('requests a token before it changes anything', async () => {
    const spec = specWith();
    const mac = await builder();
    const failed = await runStep(mac, actionsRunner, spec);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /there is no registration token/);
    assert.ok(!existsSync(mac.path(folder)));
    assert.ok(!existsSync(mac.path(`${folder}.new`)));
  });

  it('ends a registration that hangs', async () => {
    const spec = specWith();
    const mac = await builder();
    const failed = await runStep(mac, actionsRunner, spec, { secrets: { actionsRunnerToken: 'AABB-unreachable' } });
    assert.equal(failed.code, 1);
    assert.ok(!existsSync(mac.path(folder)));
    assert.ok(!existsSync(mac.path(`${folder}.new`)));
  });

  it('registers again for other labels, and starts the new runner', async () => {
    const spec = specWith();
    const mac = await builder();
    await runStep(mac, actionsRunner, spec, { secrets });
    const { pid } = mac.job(job) ?? {};
    const relabelled = specWith({ labels: ['macos', 'bake'] });
    assert.equal((await runStep(mac, actionsRunner, relabelled, { secrets })).result, 'applied');
    assert.equal(registration(mac), 'https://github.com/example mac-7.fleet_a bake,macos');
    assert.equal(mac.job(job)?.state, 'running');
    assert.notEqual(mac.job(job)?.pid, pid);
  });

  it('removes the job of the old organisation when it changes', async () => {
    const spec = specWith();
    const mac = await builder();
    await runStep(mac, actionsRunner, spec, { secrets });
    assert.equal((await runStep(mac, actionsRunner, specWith({ org: 'other' }), { secrets })).result, 'applied');
    assert.equal(mac.job(job), undefined);
    assert.equal(mac.job('actions.runner.other.mac-7.fleet_a')?.state, 'running');
    assert.ok(!existsSync(mac.path(`/Users/m1/Library/LaunchAgents/${job}.plist`)));
  });

  it('keeps the registration in a new release, without a token', async () => {
    const spec = specWith();
    const mac = await builder();
    await runStep(mac, actionsRunner, spec, { secrets });
    const before = credentials(mac);
    const upgraded = specWith({ runner: newer.actionsRunner });
    const { result, stderr } = await runStep(mac, actionsRunner, upgraded);
    assert.equal(result, 'applied', stderr);
    assert.equal(credentials(mac), before);
    assert.equal(inFolder(mac, 'bin/version'), '2.331.0\n');
    assert.equal(mac.job(job)?.state, 'running');
  });

  it('starts a runner that has ended, without a new registration', async () => {
    const spec = specWith();
    const mac = await builder();
    await runStep(mac, actionsRunner, spec, { secrets });
    const before = credentials(mac);
    await mac.run(`launchctl bootout gui/501/${job}`, { asRoot: true });
    assert.equal((await runStep(mac, actionsRunner, spec)).result, 'applied');
    assert.equal(mac.job(job)?.state, 'running');
    assert.equal(credentials(mac), before);
  });

  it('replaces the runner of the original system, which works until the new one is registered', async () => {
    const spec = specWith();
    const mac = await builder();
    mkdirSync(mac.path(folder), { recursive: true });
    for (const file of ['config.sh', '.runner', '.credentials']) writeFileSync(mac.path(`${folder}/${file}`), '{}');
    const failed = await runStep(mac, actionsRunner, spec, { secrets: { actionsRunnerToken: 'AABB-expired' } });
    assert.equal(failed.code, 1);
    assert.equal(readFileSync(mac.path(`${folder}/.runner`), 'utf8'), '{}');
    assert.equal((await runStep(mac, actionsRunner, spec, { secrets })).result, 'applied');
    assert.equal(mac.job(job)?.state, 'running');
  });

  it('reports who must log in when there is no console session', async () => {
    const spec = specWith();
    const mac = await macs.start();
    putInStore(mac, software.actionsRunner);
    const failed = await runStep(mac, actionsRunner, spec, { secrets });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /m1 is not logged in at the console/);
  });

  it('removes everything when the host is no builder any more', async () => {
    const spec = specWith();
    const mac = await builder();
    await runStep(mac, actionsRunner, spec, { secrets });
    assert.equal((await runStep(mac, actionsRunner, noBuilder())).result, 'removed');
    assert.equal(mac.job(job), undefined);
    for (const left of [folder, `/Users/m1/Library/LaunchAgents/${job}.plist`, `/Users/m1/Library/Logs/${job}`]) {
      assert.ok(!existsSync(mac.path(left)), left);
    }
    assert.equal((await runStep(mac, actionsRunner, noBuilder())).result, 'unchanged');
  });

  it('converges after a change of labels was interrupted at any point, and runs the last registration', async () => {
    const spec = specWith({ labels: ['bake'] });
    const cuts = await cutEverywhere(actionsRunner, {
      spec,
      secrets,
      only: ['launchctl', 'mv', 'sudo', 'tar'],
      prepare: async () => {
        const { stderr, code } = await runStep(shared, actionsRunner, specWith(), { secrets });
        assert.equal(code, 0, stderr);
        return shared;
      },
      check: async (mac, nth) => {
        const { code, stderr } = await runStep(mac, actionsRunner, spec, { secrets });
        assert.equal(code, 0, `cut ${nth}: ${stderr}`);
        assert.equal(mac.job(job)?.state, 'running');
        assert.equal(registration(mac), 'https://github.com/example mac-7.fleet_a bake');
      },
    });
    assert.ok(cuts > 8, `only ${cuts} cuts`);
  });
});
