import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations, secretKeys } from '@tartan/api';
import { createSubresources, isKubeError, isOwnedBy, secrets, type TransportRequest } from '@tartan/kube';
import fc from 'fast-check';
import { namespace } from '../cluster/testing/harness.ts';
import { reconcileKubeconfig } from './controller.ts';
import { parseTokenMetadata } from './kubeconfig.ts';
import { createHarness, foreign } from './testing/harness.ts';

/** What users do to the Secret. They write in any mode: a sync may come late. */
type Interference = 'writes' | 'replaces' | 'empties' | 'spoils' | 'deletes' | 'removes the token metadata' | 'disowns';
type Step =
  | { switch: 'Minted' | 'Provided' }
  | { somebody: Interference }
  /** A user does that between our read and our write. */
  | { pass: Interference | 'alone' }
  | { hours: number };

const interferences: readonly Interference[] = [
  'writes',
  'replaces',
  'empties',
  'spoils',
  'deletes',
  'removes the token metadata',
  'disowns',
];
const steps = fc.array(
  fc.oneof(
    fc.record({ switch: fc.constantFrom('Minted' as const, 'Provided' as const) }),
    fc.record({ somebody: fc.constantFrom(...interferences) }),
    { arbitrary: fc.record({ pass: fc.constantFrom('alone' as const, ...interferences) }), weight: 2 },
    fc.record({ hours: fc.integer({ min: 1, max: 30 }) }),
  ),
  { minLength: 2, maxLength: 14 },
);

/** An upgrade and its rollback, so that every run covers them. */
const alone = { pass: 'alone' } as const;
const examples: Step[][] = [
  [alone, { switch: 'Provided' }, alone, { somebody: 'writes' }, alone, { switch: 'Minted' }, alone, { hours: 25 }],
  [alone, { switch: 'Provided' }, { hours: 17 }, { pass: 'writes' }],
  [{ switch: 'Provided' }, { somebody: 'writes' }, alone, { somebody: 'deletes' }, { pass: 'writes' }],
  [
    alone,
    { switch: 'Provided' },
    { somebody: 'writes' },
    { switch: 'Minted' },
    { pass: 'writes' },
    { somebody: 'writes' },
  ],
];

const secretName = { namespace, name: 'macs-kubeconfig' };
const encoded = (text: string): string => Buffer.from(text).toString('base64');

test('after any sequence of mode switches, late writes and deletions, a reconcile leaves a working kubeconfig and never overwrites a provided one', async (t) => {
  const harness = await createHarness(t);
  const { client, clock } = harness;
  let count = 0;
  const orGone = async (done: Promise<unknown>): Promise<void> => {
    await done.catch((error: unknown) => {
      if (!isKubeError(error, 'notFound', 'alreadyExists')) throw error;
    });
  };
  const patch = (body: object) => orGone(client.patch(secrets, secretName, { type: 'merge', body }));
  const write = async (): Promise<void> => {
    count += 1;
    if ((await harness.secretIfThere()) === undefined) await orGone(harness.provide(`theirs-${count}`));
    else await patch({ data: { [secretKeys.kubeconfig]: encoded(foreign(`theirs-${count}`)) } });
  };
  const interfere: Readonly<Record<Interference, () => Promise<void>>> = {
    writes: write,
    replaces: async () => {
      await orGone(client.delete(secrets, secretName));
      await write();
    },
    empties: () => patch({ data: null }),
    spoils: () => patch({ data: { [secretKeys.kubeconfig]: encoded('a: [1') } }),
    deletes: () => orGone(client.delete(secrets, secretName)),
    'removes the token metadata': () => patch({ metadata: { annotations: null } }),
    disowns: () => patch({ metadata: { ownerReferences: null } }),
  };

  /** What a user does right before our next write of the Secret, so that it conflicts. */
  let race: Interference | 'alone' = 'alone';
  /** The Secret before our write, if we wrote. */
  let standing = '';
  harness.interpose((send) => async (request: TransportRequest) => {
    if (race !== 'alone' && request.method !== 'GET' && request.path.includes('/secrets')) {
      const what = race;
      race = 'alone';
      await interfere[what]();
      standing = (await look()).text;
    }
    return send(request);
  });
  const deps = {
    client: harness.theirs,
    tokens: createSubresources(harness.transport, { clock }),
    events: { event: () => {} },
    redactor: harness.redactor,
    log: harness.log,
    clock,
    address: () => harness.apiServer.address(),
    ca: harness.apiServer.ca,
    lifeMs: 24 * 3_600_000,
    lookAgainMs: 600_000,
  };
  const pass = async () => reconcileKubeconfig(deps, await harness.get(), 'macs', t.signal);

  const look = async () => {
    const secret = await harness.secretIfThere();
    const text = Buffer.from(secret?.data?.[secretKeys.kubeconfig] ?? '', 'base64').toString();
    const tokenMetadata = parseTokenMetadata(secret?.metadata.annotations?.[annotations.kubeconfigToken], text);
    return {
      secret,
      text,
      isForeign: text.includes('theirs-'),
      fresh: tokenMetadata && tokenMetadata.expiresAt > clock.now(),
    };
  };
  const check = async (before: string): Promise<void> => {
    const { secret, text, isForeign, fresh } = await look();
    const { spec, metadata } = await harness.get();
    assert.ok(secret, 'there is a Secret');
    assert.equal(secret.metadata.labels?.['cluster.x-k8s.io/cluster-name'], 'macs');
    assert.ok(isForeign || fresh, 'core can connect with it');
    const marks = [isOwnedBy(secret, metadata.uid), annotations.kubeconfigToken in (secret.metadata.annotations ?? {})];
    if (spec.kubeconfig === 'Minted' || !isForeign) assert.deepEqual([isForeign, ...marks], [false, true, true]);
    else assert.deepEqual(marks, [false, false], 'nothing on it is ours');
    if (spec.kubeconfig === 'Provided' && before.includes('theirs-'))
      assert.equal(text, before, 'it is left as it was');
  };

  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      await orGone(client.delete(secrets, secretName));
      await harness.setMode('Minted');
      for (const step of [...sequence, { pass: 'alone' } as const]) {
        if ('switch' in step) await harness.setMode(step.switch);
        else if ('hours' in step) clock.advance(step.hours * 3_600_000);
        else if ('somebody' in step) await interfere[step.somebody]();
        else {
          standing = (await look()).text;
          race = step.pass;
          // After a write or a conflict the controller requeues after a second.
          for (let looks = 0; looks < 3; looks += 1) await pass();
          race = 'alone';
          await check(standing);
        }
      }
    }),
    { numRuns: 60, examples: examples.map((sequence) => [sequence]) },
  );
});
