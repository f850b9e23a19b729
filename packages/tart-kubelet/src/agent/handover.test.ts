import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps, secrets } from '@tartan/kube';
import { endOf, inGuest, toldOf, vmOf, waitsFor } from './testing/looks.ts';
import { hasEnded, image, isRunning, onMac, type Stage } from './testing/stage.ts';

const namespace = 'runners';
const shared = 'Volumes/My Shared Files';
const makeSecret = ({ admin }: Stage) =>
  admin.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'keys', namespace },
    data: { KEY: Buffer.from('one\ntwo').toString('base64'), '1st': '' },
  });

describe('what a guest of a Pod is given', { timeout: 120_000 }, () => {
  it('is there when it boots: variables from everywhere, and tokens for the audiences that the Pod names (G25)', () =>
    onMac(async (stage) => {
      await makeSecret(stage);
      await stage.admin.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'settings', namespace },
        data: { REGION: 'fr' },
      });
      stage.start();
      const audience = 'tuist-runners-dispatch';
      const pod = await stage.pod((spec) => {
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
      const running = await stage.until(pod, 'is Running', isRunning);
      const { name } = pod.metadata;
      const variables = await inGuest(stage, vmOf(running), `cat "${shared}/env/tuist.env"`);
      assert.deepEqual(variables.trimEnd().split('\n'), [
        `GREETING=I am ${name} in fr, C:\\\\new`,
        'KEY=one\\ntwo',
        `NAME=${name}`,
        'REGION=fr',
      ]);
      const token = await inGuest(stage, vmOf(running), `cat "${shared}/dispatch/token"`);
      const [, body = ''] = token.split('.');
      const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
      assert.deepEqual(claims.aud, [audience]);
      assert.equal(claims['kubernetes.io'].pod.uid, pod.metadata.uid);
      assert.equal(await inGuest(stage, vmOf(running), `cat "${shared}/env/sa_token"`), token);
      assert.ok(toldOf(stage, pod).includes('InvalidEnvironmentVariableNames'));
    }));

  it('is waited for with a reason: a Secret that is missing may come later', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await stage.pod((spec) => {
          spec.containers = [{ name: 'runner', image, envFrom: [{ secretRef: { name: 'keys' } }] }];
        });
        const waiting = await stage.until(pod, 'waits', (seen) => waitsFor(seen) === 'CreateContainerConfigError');
        assert.match(waiting.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /keys/);
        assert.equal(stage.tart.journal.calls('run').length, 0);
        await makeSecret(stage);
        await stage.until(pod, 'is Running', isRunning);
      },
      { speed: 20 },
    ));
});

describe('what a guest says of its own end', { timeout: 120_000 }, () => {
  const ends: readonly (readonly [string, string, readonly unknown[]])[] = [
    ['counts more than what tart says', 'echo 7', ['Failed', 7, 'Error']],
    [
      'out of range is no report, and no success by wrapping around (INC-33)',
      'echo 256',
      ['Succeeded', 0, 'TartRunExited'],
    ],
  ];
  for (const [sentence, command, expected] of ends)
    it(sentence, () =>
      onMac(async (stage) => {
        stage.tart.controls.guest('_', { program: `${command} >"${shared}/status/runner-rc"; shutdown -h now` });
        stage.start();
        const ended = await stage.until(await stage.pod(), 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, endOf(ended)?.exitCode, endOf(ended)?.reason], expected);
        assert.ok(endOf(ended)?.startedAt && endOf(ended)?.finishedAt);
      }),
    );

  it('by a link into the Mac is no report (INC-34)', () =>
    onMac(async (stage) => {
      const program = `echo 9 >own; ln -s "$PWD/own" "${shared}/status/runner-rc"; shutdown -h now`;
      stage.tart.controls.guest('_', { program });
      stage.start();
      const ended = await stage.until(await stage.pod(), 'has ended', hasEnded);
      assert.deepEqual([endOf(ended)?.exitCode, endOf(ended)?.reason], [0, 'TartRunExited']);
    }));

  it('is written with how it ended, also when it crashed without a word: that is no success (G9, INC-32)', () =>
    onMac(async (stage) => {
      stage.tart.controls.guest('_', { lifetimeMs: 300, ends: 'error' });
      stage.start();
      const ended = await stage.until(await stage.pod(), 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, endOf(ended)?.exitCode, endOf(ended)?.reason],
        ['Failed', 1, 'TartRunFailed'],
      );
      assert.match(endOf(ended)?.message ?? '', /due to error/);
      assert.equal(ended.status?.reason, 'TartRunExited');
    }));

  it('is a failure when the guest lost its network, which tart ends with 0', () =>
    onMac(async (stage) => {
      stage.tart.controls.guest('_', { lifetimeMs: 300, ends: 'network' });
      stage.start();
      const ended = await stage.until(await stage.pod(), 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, endOf(ended)?.exitCode, endOf(ended)?.reason],
        ['Failed', 1, 'TartRunFailed'],
      );
      assert.match(endOf(ended)?.message ?? '', /network attachment .* has been disconnected with error/);
    }));
});
