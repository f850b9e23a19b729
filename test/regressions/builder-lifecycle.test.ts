import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { machine, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { getCondition, type Live, nodes } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import {
  appSecretName,
  artifactFlags,
  createInstaller,
  ensureSSHKey,
  fleetNamespace as namespace,
  githubURLVariable,
  installProvider,
  providerFlags,
  startEmbedded,
  startGitHubFor,
  startMacPool,
} from '@tartan/sim-fleet';
import type { JobRecord, SimulatedGitHub } from '@tartan/sim-github';
import type { Mac } from '@tartan/sim-mac';
import { clusterMember } from '../../packages/provider/src/core/testing/cluster-member.ts';
import { isReady } from '../system/nodes.ts';
import { startProvider } from '../system/provider.ts';
import { createWaits, type Waits } from '../system/waits.ts';

const name = 'builder-1';
const fleet = 'builders';
const labels = ['self-hosted', 'macos', 'vm-image-builder', 'production'];
const image = 'tuist-runner';
const agent = 'dev.tuist.tart-kubelet';

/** The bake of docs/image-builder.md. Its checkout contains the template. */
const bake = `set -eu
cat >image.pkr.hcl <<'HCL'
source "tart-cli" "runner" {
  vm_base_name = "ghcr.io/cirruslabs/macos-tahoe-base:latest"
  vm_name      = "${image}"
}
HCL
tartan-reclaim-disk --free 10
packer init . && packer build image.pkr.hcl
export TART_NO_AUTO_PRUNE=1
for try in 1 2 3; do
  if tart push ${image} ghcr.io/acme/runner:1 --concurrency 4 --chunk-size 3; then
    echo "pushed by try $try"
    exit 0
  fi
  sleep $((try * 60))
done
exit 1
`;

/** A job that runs until the test ends it. */
const patient = `while [ ! -e "$TARTAN_ROOT/var/sim-workflows/enough" ]; do sleep 10; done
`;

describe('tuist/tuist#11072: a builder bakes an image beside its agent, and is deleted when its job has ended', {
  timeout: 240_000,
}, () => {
  const stops: (() => Promise<unknown>)[] = [];
  let github: SimulatedGitHub;
  let waits: Waits;
  let mac: Mac;
  let client: Awaited<ReturnType<typeof startEmbedded>>['client'];
  const log: string[] = [];

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tartan-builder-'));
    stops.push(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const controlPlane = await startEmbedded({ folder });
    stops.push(controlPlane.stop);
    ({ client } = controlPlane);
    waits = createWaits(client);
    const installer = createInstaller(client);
    await installProvider(controlPlane, installer, providerFlags);
    github = await startGitHubFor(client, installer);
    stops.push(github.stop);
    const environment = { [githubURLVariable]: github.url };
    const macs = await startMacPool({ folder, pace: 0.01, scalewayPace: 0.001, environment });
    stops.push(macs.stop);
    await ensureSSHKey(client, macs.pool, fleet);
    const [server] = await macs.order(1);
    assert.ok(server?.mac);
    mac = server.mac;
    const artifacts = await artifactFlags(folder, { version: '0.1.0' }, { builders: true });
    const provider = await startProvider({
      controlPlane,
      macs,
      flags: [...artifacts, `--github-api-url=${github.url}`, '--log-level=debug'],
      intervals: { hosts: { pollMs: 100 } },
      write: (line) => log.push(line),
    });
    stops.push(provider.stop);
  });
  after(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  const tartHome = (path: string): string => mac.path(`/Users/m1/.tart/${path}`);
  const control = (key: string, value: string): void => {
    mkdirSync(join(tartHome(`.fake/${key}`), '..'), { recursive: true });
    writeFileSync(tartHome(`.fake/${key}`), `${value}\n`);
  };
  const addWorkflow = (job: string, script: string): void => {
    mkdirSync(mac.path('/var/sim-workflows'), { recursive: true });
    writeFileSync(mac.path(`/var/sim-workflows/${job}.sh`), script);
  };
  const queue = (job: string): JobRecord => github.queueJob({ repository: 'acme/app', labels, name: job });
  const requests = (what: string): number => github.requests.filter((each) => each.includes(what)).length;
  /** The command lines of this Mac, with their ids. */
  const processes = async (): Promise<readonly { pid: number; parent: number; args: string }[]> => {
    const { stdout } = await mac.run('ps -ax -ww -o pid= -o ppid= -o args=');
    return stdout.split('\n').flatMap((line) => {
      const [, pid = '', parent = '', args = ''] = /^ *(\d+) +(\d+) +(.*)$/.exec(line) ?? [];
      return pid === '' ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
    });
  };
  /** Empty before the job has begun. */
  const jobLog = (job: JobRecord): string => {
    const file = mac.path(`/opt/actions-runner/_diag/${job.name}-${job.id}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  const deleting = ({ status }: Live<ScalewayAppleSiliconMachine>): string =>
    getCondition(status?.conditions, 'Deleting')?.message ?? '';

  test('the Mac is bootstrapped, and its runner registers with its own token', async () => {
    const ghActionsRunner = { ghOrg: 'acme', ghAppSecretName: appSecretName, ghRunnerLabels: labels.join(',') };
    const at = { namespace, name };
    const metadata = { ...at, ...(await clusterMember(client, at)) };
    const made = machine.make({ metadata, spec: { fleetName: fleet, ghActionsRunner } });
    await client.create(machine.resource, made);
    await waits.waitFor(machine.resource, name, 'is ready', ({ status }) => status?.ready === true);
    await waits.waitFor(nodes, name, 'is Ready', isReady);
    const runner = await eventually('its runner is online', () => github.runners().find(({ isOnline }) => isOnline));
    assert.equal(runner.name, name);
    // With the default labels of every runner it would take jobs that are meant for virtual machines.
    assert.deepEqual(runner.labels.toSorted(), labels.toSorted());
    assert.equal(requests('registration-token'), 1);
    assert.ok(mac.job(agent)?.arguments.includes('--disable-vm-gc'));
  });

  test('a bake frees space, builds, and pushes again after a failed push', async () => {
    for (const folder of ['vms/old-bake', '.fake/running']) mkdirSync(tartHome(folder), { recursive: true });
    for (const file of ['config.json', 'disk.img', 'nvram.bin']) writeFileSync(tartHome(`vms/old-bake/${file}`), '');
    control('host/push-disk', '100000');
    control('commands/push/exit', '1');
    control('commands/push/stderr', 'Error: UnexpectedHTTPStatusCode(when: "pushing blob", code: 502)');
    control('commands/push/times/1', '');
    addWorkflow('bake', bake);
    const job = queue('bake');

    // The second attempt uploads its disk until this test continues it. The first one fails before, and is a process with the same name.
    await eventually('the disk is pushed', () => jobLog(job).includes('pushing disk'));
    assert.match(jobLog(job), /502/);
    const push = await eventually('the push is listed', async () =>
      (await processes()).find(({ args }) => args.includes(`MacOS/tart push ${image}`)),
    );
    assert.ok(!existsSync(tartHome('vms/old-bake')), 'the first step made room');

    // A user frees disk space, and the agent is restarted: neither deletes what is being pushed.
    const reclaim = await mac.run('PATH="$TARTAN_ROOT/usr/local/bin:$PATH"; tartan-reclaim-disk');
    assert.equal(reclaim.code, 0, reclaim.stderr);
    assert.match(reclaim.stdout, /^left alone {2}tuist-runner: a tart works with it$/m);
    const { pid } = mac.job(agent) ?? {};
    await mac.run(`launchctl kickstart -k system/${agent}`, { asRoot: true });
    await eventually('the agent runs again', () => mac.job(agent)?.pid !== pid && mac.job(agent)?.state === 'running');
    await waits.waitFor(nodes, name, 'is Ready', isReady);
    assert.deepEqual(readdirSync(tartHome('vms')), [image]);
    assert.equal(job.status, 'in_progress');

    const sleeps = await eventually('it waits for its disk', async () => {
      const children = (await processes()).filter(({ parent }) => parent === push.pid);
      return children.length > 0 && children;
    });
    for (const child of sleeps) process.kill(child.pid, 'SIGKILL');
    await eventually('the job has ended', () => job.status === 'completed');
    assert.equal(job.conclusion, 'success', jobLog(job));
    const said = jobLog(job);
    for (const layer of ['pushing config', 'pushing disk', 'pushing NVRAM', 'pushed by try 2'])
      assert.ok(said.includes(layer), said);
    assert.ok(existsSync(tartHome('.fake/registry/ghcr.io/acme/runner/:1')));
    assert.equal(requests('registration-token'), 1, 'a runner that is there needs no other token');
  });

  test('the builder is deleted after its job has ended, its runner first', async () => {
    addWorkflow('patient', patient);
    const job = queue('patient');
    await eventually('the job has begun', () => job.status === 'in_progress');
    const { status } = await client.get(machine.resource, { namespace, name });
    const serverID = status?.serverID ?? '';
    await client.delete(machine.resource, { namespace, name });
    await waits.waitFor(machine.resource, name, 'waits for its runner', (seen) => /has a job/.test(deleting(seen)));
    assert.equal((await client.get(macHost.resource, { name: serverID })).spec.release, undefined);
    assert.equal(job.status, 'in_progress');

    writeFileSync(mac.path('/var/sim-workflows/enough'), '');
    await eventually('the job has ended', () => job.status === 'completed');
    // The manager polls every half a minute; a change of the object triggers it now.
    const body = { metadata: { annotations: { 'tuist.dev/test': 'look again' } } };
    await client.patch(machine.resource, { namespace, name }, { type: 'merge', body });
    await waits.waitUntilGone(machine.resource, name);
    assert.deepEqual(github.runners(), []);
    assert.deepEqual(github.lostJobs(), []);
    assert.equal(job.conclusion, 'success');
    const host = await waits.waitFor(
      macHost.resource,
      serverID,
      'is in the pool',
      (seen) => seen.status?.state === 'pool',
    );
    assert.equal(host.spec.consumerRef, undefined);
    assert.ok(!existsSync(mac.path('/opt/actions-runner')), 'and its disk is empty');
  });

  test('the registration token is in no log', () => {
    assert.ok(log.length > 0);
    assert.ok(!log.join('').includes(github.app.privateKey.split('\n')[1] ?? '-'));
  });
});
