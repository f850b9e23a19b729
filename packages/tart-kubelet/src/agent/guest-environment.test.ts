import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps, secrets } from '@tartan/kube';
import { type Harness, hasEnded, image, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, runInGuest, terminatedState, vmNameOf, waitingReason } from './testing/pod-checks.ts';

const namespace = 'runners';
const shared = 'Volumes/My Shared Files';
const makeSecret = ({ admin }: Harness) =>
  admin.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'keys', namespace },
    data: { KEY: Buffer.from('one\ntwo').toString('base64'), '1st': '' },
  });

describe('the environment and tokens of a guest', { timeout: 120_000 }, () => {
  it('exist at boot: variables of every source, and tokens for the audiences of the Pod (INC-425)', () =>
    withMac(async (harness) => {
      await makeSecret(harness);
      await harness.admin.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'settings', namespace },
        data: { REGION: 'fr' },
      });
      harness.startAgent();
      const audience = 'tuist-runners-dispatch';
      const pod = await harness.pod((spec) => {
        const fieldRef = { fieldPath: 'metadata.name' };
        spec.containers = [
          {
            name: 'runner',
            image,
            envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'keys' } }],
            env: [
              { name: 'NAME', valueFrom: { fieldRef } },
              { name: 'GREETING', value: 'I am $(NAME) in $(REGION), C:\\new' },
            ],
            volumeMounts: [{ name: 'dispatch', mountPath: '/var/run/dispatch' }],
          },
        ];
        const serviceAccountToken = { audience, expirationSeconds: 3600, path: 'token' };
        spec.volumes = [{ name: 'dispatch', projected: { sources: [{ serviceAccountToken }] } }];
      });
      const running = await harness.waitForPod(pod, 'is Running', isRunning);
      const { name } = pod.metadata;
      const variables = await runInGuest(harness, vmNameOf(running), `cat "${shared}/env/tuist.env"`);
      assert.deepEqual(variables.trimEnd().split('\n'), [
        `GREETING=I am ${name} in fr, C:\\\\new`,
        'KEY=one\\ntwo',
        `NAME=${name}`,
        'REGION=fr',
      ]);
      const token = await runInGuest(harness, vmNameOf(running), `cat "${shared}/dispatch/token"`);
      const [, body = ''] = token.split('.');
      const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
      assert.deepEqual(claims.aud, [audience]);
      assert.equal(claims['kubernetes.io'].pod.uid, pod.metadata.uid);
      assert.equal(await runInGuest(harness, vmNameOf(running), `cat "${shared}/env/sa_token"`), token);
      assert.ok(eventReasonsOf(harness, pod).includes('InvalidEnvironmentVariableNames'));
    }));

  it('wait for a missing Secret with a reason', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const pod = await harness.pod((spec) => {
          spec.containers = [{ name: 'runner', image, envFrom: [{ secretRef: { name: 'keys' } }] }];
        });
        const waiting = await harness.waitForPod(
          pod,
          'waits',
          (seen) => waitingReason(seen) === 'CreateContainerConfigError',
        );
        assert.match(waiting.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /keys/);
        assert.equal(harness.tart.journal.calls('run').length, 0);
        await makeSecret(harness);
        await harness.waitForPod(pod, 'is Running', isRunning);
      },
      { speed: 20 },
    ));
});

describe('the result that a guest reports', { timeout: 120_000 }, () => {
  const ends: readonly (readonly [string, string, readonly unknown[]])[] = [
    ['counts more than what tart says', 'echo 7', ['Failed', 7, 'Error']],
    ['is ignored when it is out of range (INC-33)', 'echo 256', ['Succeeded', 0, 'TartRunExited']],
  ];
  for (const [sentence, command, expected] of ends)
    it(sentence, () =>
      withMac(async (harness) => {
        harness.tart.controls.guest('_', { program: `${command} >"${shared}/status/runner-rc"; shutdown -h now` });
        harness.startAgent();
        const ended = await harness.waitForPod(await harness.pod(), 'has ended', hasEnded);
        assert.deepEqual(
          [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
          expected,
        );
        assert.ok(terminatedState(ended)?.startedAt && terminatedState(ended)?.finishedAt);
      }),
    );

  it('is ignored when it is a symlink (INC-34)', () =>
    withMac(async (harness) => {
      const program = `echo 9 >own; ln -s "$PWD/own" "${shared}/status/runner-rc"; shutdown -h now`;
      harness.tart.controls.guest('_', { program });
      harness.startAgent();
      const ended = await harness.waitForPod(await harness.pod(), 'has ended', hasEnded);
      assert.deepEqual([terminatedState(ended)?.exitCode, terminatedState(ended)?.reason], [0, 'TartRunExited']);
    }));

  it('is a failure when the guest crashed without a report (INC-409, INC-32)', () =>
    withMac(async (harness) => {
      harness.tart.controls.guest('_', { lifetimeMs: 300, ends: 'error' });
      harness.startAgent();
      const ended = await harness.waitForPod(await harness.pod(), 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
        ['Failed', 1, 'TartRunFailed'],
      );
      assert.match(terminatedState(ended)?.message ?? '', /due to error/);
      assert.equal(ended.status?.reason, 'TartRunExited');
    }));

  it('is a failure when the guest lost its network, although tart exits with 0', () =>
    withMac(async (harness) => {
      harness.tart.controls.guest('_', { lifetimeMs: 300, ends: 'network' });
      harness.startAgent();
      const ended = await harness.waitForPod(await harness.pod(), 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
        ['Failed', 1, 'TartRunFailed'],
      );
      assert.match(terminatedState(ended)?.message ?? '', /network attachment .* has been disconnected with error/);
    }));
});
