import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machine } from '@tartan/api';
import { KubeError } from '@tartan/kube';
import { clusterMember } from '../core/testing/cluster-member.ts';
import { doneOutcome } from './testing/fakes.ts';
import { createHarness } from './testing/harness.ts';

const unreachable = { kind: 'unreachable', message: 'nobody answers' } as const;
const rejected = { kind: 'rejected', step: 'power', message: 'pmset said no' } as const;

describe('a bootstrap', () => {
  it('is retried, and attempts are counted', async (t) => {
    const harness = await createHarness(t);
    harness.work.next(unreachable, rejected);
    await harness.start();
    await harness.claimed();
    let status = await harness.status();
    assert.equal(status.lastAttempt?.count, 1);
    assert.equal(status.phase, 'Bootstrapping');
    assert.equal(await harness.reason('Bootstrapped'), 'HostUnreachable');
    await harness.pass(0.75);
    assert.equal(harness.work.jobs.length, 1, 'not at once');
    await harness.pass(0.5);
    assert.equal(await harness.reason('Bootstrapped'), 'BootstrapFailed');
    assert.match((await harness.condition('Bootstrapped'))?.message ?? '', /pmset said no/);
    await harness.pass(1.25);
    status = await harness.status();
    assert.equal(status.initialization?.provisioned, true);
    assert.equal(status.lastAttempt?.count, 0);
    assert.equal(await harness.reason('Bootstrapped'), 'Bootstrapped');
  });

  it('reports Bootstrapping while it runs', async (t) => {
    const harness = await createHarness(t);
    let during: string | undefined;
    harness.work.next(async (job) => {
      during = await harness.reason('Bootstrapped');
      return doneOutcome(job);
    });
    await harness.start();
    await harness.claimed();
    assert.equal(during, 'Bootstrapping');
  });

  it('is not started by a manager that lost leadership', async (t) => {
    const harness = await createHarness(t);
    harness.lead.leads = false;
    await harness.start();
    await harness.claimed();
    await harness.pass(5);
    assert.deepEqual([harness.work.jobs.length, (await harness.status()).joinTokenID], [0, undefined]);
    harness.lead.leads = true;
    await harness.pass(20);
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });

  it('is not sent when leadership was lost while credentials were made', async (t) => {
    const harness = await createHarness(t);
    harness.interpose((send) => async (request) => {
      if (request.path.includes('kube-system/secrets')) harness.lead.leads = false;
      return send(request);
    });
    await harness.start();
    await harness.claimed();
    await harness.pass(1);
    assert.equal(harness.work.jobs.length, 0);
  });

  it('is not complete while a step is deferred', async (t) => {
    const harness = await createHarness(t);
    harness.work.next(async (job) =>
      doneOutcome(job, { deferred: [{ step: 'tailscale', reason: 'the connection runs over it' }] }),
    );
    await harness.start();
    await harness.claimed();
    const status = await harness.status();
    assert.equal(status.initialization?.provisioned, undefined);
    assert.equal(status.lastAttempt?.count, 1);
    await harness.pass(2);
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });

  it('gives the Mac short-lived credentials that the status records', async (t) => {
    const harness = await createHarness(t);
    harness.work.next(unreachable);
    await harness.start();
    await harness.claimed();
    const first = (await harness.status()).joinTokenID ?? '';
    assert.deepEqual(await harness.tokens(), [`bootstrap-token-${first}`]);
    await harness.pass(2);
    const { joinTokenID = '', joinVersion } = await harness.status();
    assert.notEqual(joinTokenID, first, 'the secret half of the first one is forgotten');
    assert.deepEqual(await harness.tokens(), [`bootstrap-token-${joinTokenID}`]);
    assert.equal(joinVersion, joinTokenID);
    const [, job] = harness.work.jobs;
    assert.ok(job?.task.kind === 'converge');
    assert.equal(job.task.spec.agent.joinVersion, joinTokenID);
    assert.equal(job.task.spec.agent.providerID, 'scw-applesilicon://fr-par-1/server-1');
    assert.match(job.task.secrets.joinKubeconfig ?? '', new RegExp(joinTokenID));
    assert.ok(!harness.lines.join('').includes('hunter2'));
  });

  it('survives a concurrent write of the machine', async (t) => {
    const harness = await createHarness(t);
    harness.work.next(async (job) => {
      await job.pin('SHA256:first');
      await harness.patchMachine({ metadata: { labels: { somebody: 'else' } } });
      return doneOutcome(job);
    });
    await harness.start();
    await harness.claimed();
    await harness.settle();
    assert.equal((await harness.status()).initialization?.provisioned, true);
    assert.equal(harness.work.jobs.length, 1);
  });

  it('fails the reconcile when its result cannot be written, and runs again', async (t) => {
    const harness = await createHarness(t);
    let refuse = true;
    harness.interpose((send) => async (request) => {
      if (refuse && request.body?.includes('"provisioned":true') === true)
        throw new KubeError('serverError', 'etcd is away');
      return send(request);
    });
    await harness.start();
    await harness.claimed();
    assert.equal((await harness.status()).initialization?.provisioned, undefined);
    assert.match(harness.lines.join(''), /A pass failed and will be tried again/);
    refuse = false;
    await harness.pass(5);
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });
});

describe('a Mac whose bootstrap fails', () => {
  it('is rebooted once, then released with all its objects', async (t) => {
    const harness = await createHarness(t);
    const reboots = new Set<string | undefined>();
    harness.work.next(rejected, rejected, rejected, rejected, rejected);
    await harness.start();
    await harness.claimed();
    await harness.addNode();
    await harness.addHost('server-2');
    for (let minutes = 0; minutes < 8; minutes += 1) {
      await harness.pass(1);
      const { spec, status } = await harness.host();
      const { requestedAt } = spec.reboot ?? {};
      reboots.add(requestedAt);
      // As the MacHost controller does.
      if (requestedAt && status?.rebootIssuedAt === undefined)
        await harness.setHostStatus({ rebootIssuedAt: requestedAt });
    }
    assert.equal(reboots.size, 2, `none, and then one: ${[...reboots].join()}`);
    const { release, consumerRef } = (await harness.host()).spec;
    assert.equal(consumerRef, undefined);
    assert.equal(release?.reason, 'BootstrapExhausted');
    assert.match(release.message ?? '', /5 attempts.*pmset said no/);
    assert.equal(release.hostKey, 'SHA256:first');
    assert.equal(release.poolPrefix, 'tuist-pool-');
    assert.equal(release.family, 'tahoe');
    const { status, spec } = await harness.get();
    assert.equal(status?.serverID, 'server-2', 'another one is claimed');
    assert.equal(spec.providerID, undefined);
    for (const field of ['lastAttempt', 'bootstrapRebootIssued', 'hostKeyEpoch', 'joinTokenID', 'joinVersion'] as const)
      assert.equal(status[field], undefined, field);
    assert.equal(await harness.secret(), undefined, 'the login of a Mac that is not ours');
    assert.equal(await harness.node(), undefined, 'a Node that is not ours any more');
    assert.deepEqual(await harness.tokens(), []);
    const events = await harness.events();
    assert.equal(events.filter((reason) => reason === 'RebootingForRecovery').length, 1);
    assert.ok(events.includes('BootstrapExhausted'));
    await harness.rename('server-2');
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });

  it('is rebooted once, also when the process died right after the request', async (t) => {
    const harness = await createHarness(t);
    harness.work.next(rejected, rejected, rejected);
    await harness.start();
    await harness.claimed();
    let lost = 0;
    harness.interpose((send) => async (request) => {
      if (request.body?.includes('"bootstrapRebootIssued":true') === true && lost < 2) {
        lost += 1;
        throw new KubeError('unreachable', 'about to die');
      }
      return send(request);
    });
    const asked = new Set<string>();
    for (let step = 0; step < 20; step += 1) {
      await harness.pass(0.25);
      const { requestedAt } = (await harness.host()).spec.reboot ?? {};
      if (requestedAt) asked.add(requestedAt);
    }
    assert.equal(lost, 2);
    assert.equal((await harness.status()).bootstrapRebootIssued, true);
    assert.equal(asked.size, 1, [...asked].join());
  });

  it('is detached also when the process died right after the release', async (t) => {
    const harness = await createHarness(t);
    harness.work.next(rejected, rejected, rejected, rejected, rejected);
    await harness.start();
    await harness.claimed();
    harness.interpose((send) => async (request) => {
      if (request.method === 'DELETE') throw new KubeError('unreachable', 'about to die');
      return send(request);
    });
    await harness.setStatus({
      lastAttempt: { ...((await harness.status()).lastAttempt ?? assert.fail()), count: 5 },
      bootstrapRebootIssued: true,
    });
    await harness.pass(2);
    assert.equal((await harness.host()).spec.release?.reason, 'BootstrapExhausted');
    assert.equal((await harness.status()).serverID, 'server-1');
    harness.interpose((send) => send);
    await harness.restart();
    assert.equal((await harness.status()).serverID, undefined);
    assert.equal(await harness.secret(), undefined);
    assert.equal(await harness.reason('Provisioned'), 'NoAvailableHost');
  });

  it('is neither rebooted nor released while Pods run on it', async (t) => {
    const harness = await createHarness(t);
    harness.work.next(rejected);
    await harness.start();
    await harness.claimed();
    await harness.addNode();
    await harness.addPod();
    harness.work.next(...Array.from({ length: 20 }, () => rejected));
    await harness.pass(8);
    assert.ok(((await harness.status()).lastAttempt?.count ?? 0) >= 6);
    assert.equal((await harness.host()).spec.reboot, undefined);
    assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
    const last = harness.work.jobs.at(-1);
    assert.ok(last?.task.kind === 'converge' && !last.task.idle);
  });

  it('is released at once, with its host key, when it was not wiped', async (t) => {
    const harness = await createHarness(t);
    harness.work.next({ kind: 'not wiped', message: 'it has the disk of mac-0', hostKey: 'SHA256:old' });
    await harness.start();
    await harness.claimed();
    const { release, consumerRef } = (await harness.host()).spec;
    assert.equal(consumerRef, undefined);
    assert.equal(release?.reason, 'NotWiped');
    assert.equal(release.hostKey, 'SHA256:old');
    assert.equal((await harness.status()).serverID, undefined);
    assert.ok((await harness.events()).includes('HostNotWiped'));
  });

  it('is never released once provisioned', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.setStatus({ lastAttempt: { ...((await harness.status()).lastAttempt ?? assert.fail()), count: 99 } });
    await harness.removeNode();
    harness.work.next(unreachable, { kind: 'not wiped', message: 'm', hostKey: 'k' }, rejected, {
      kind: 'host key changed',
      message: 'm',
    });
    await harness.pass(30);
    assert.ok(harness.work.jobs.length >= 4);
    const { spec } = await harness.host();
    assert.equal(spec.consumerRef?.name, 'mac-1');
    assert.equal(spec.release, undefined);
    assert.equal(spec.reboot, undefined);
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });
});

describe('pushes', () => {
  it('are limited: without a free slot the machine is requeued', async (t) => {
    const harness = await createHarness(t, { machineWorkers: 1 });
    const gate = Promise.withResolvers<void>();
    harness.work.next(async (job) => {
      await gate.promise;
      return doneOutcome(job);
    });
    await harness.start();
    await harness.claimed();
    assert.equal(harness.work.jobs.length, 1);
    await harness.addHost('server-2');
    const name = { namespace: 'fleet', name: 'mac-2' };
    const metadata = { ...name, ...(await clusterMember(harness.client, name)) };
    await harness.client.create(machine.resource, machine.make({ metadata, spec: { fleetName: 'runners' } }));
    await harness.settle();
    await harness.rename('server-2');
    await harness.pass(1);
    assert.equal(harness.work.jobs.length, 1, 'the only slot is taken');
    gate.resolve();
    await harness.pass(0.5);
    assert.equal(harness.work.jobs.length, 2);
  });

  it('are cancelled when the machine is deleted', async (t) => {
    const harness = await createHarness(t);
    harness.work.next(
      (_job, signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true })),
    );
    await harness.start();
    await harness.claimed();
    await harness.deleteMachine();
    await harness.pass(0.5);
    assert.equal((await harness.host()).spec.release?.reason, 'MachineDeleted');
    assert.equal((await harness.status()).lastAttempt?.count, 0);
  });
});
