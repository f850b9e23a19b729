import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Applesiliconv1alpha1 } from '@scaleway/sdk-applesilicon';
import { createClient, Errors } from '@scaleway/sdk-client';
import { Iamv1alpha1 } from '@scaleway/sdk-iam';
import { manualClock } from '@tartan/kube/clock';
import type { SimulatedScaleway } from './scaleway.ts';
import { startScaleway } from './start-scaleway.ts';
import { projectID, publicKey, secretKey } from './testing/requests.ts';

/** Scaleway's own SDK must parse every answer: the best available proof that they match Scaleway's. */
describe('through the SDK', () => {
  const zone = 'fr-par-3';
  const clock = manualClock();
  let scaleway: SimulatedScaleway;
  let macs: InstanceType<typeof Applesiliconv1alpha1.API>;
  let iam: InstanceType<typeof Iamv1alpha1.API>;
  before(async () => {
    scaleway = await startScaleway({ clock, secretKey, projectID, pace: 1 });
    const client = createClient({ apiURL: scaleway.url, accessKey: 'SCW00000000000000000', secretKey });
    macs = new Applesiliconv1alpha1.API(client);
    iam = new Iamv1alpha1.API(client);
  });
  after(() => scaleway.stop());

  test('all pages of a list are read', async () => {
    for (let number = 0; number < 45; number++) await scaleway.order({ zone, name: `pool-${number}` });
    const servers = await macs.listServers({ zone, projectId: projectID, pageSize: 20 }).all();
    assert.deepEqual(
      servers.map(({ name }) => name),
      scaleway.servers().map(({ name }) => name),
    );
    const images = await macs.listOS({ zone, serverType: 'M2-L', pageSize: 2 }).all();
    assert.deepEqual(
      images.map(({ id, family, version, isBeta }) => ({ id, family, version, isBeta })),
      scaleway.images.map(({ id, family, version, isBeta }) => ({ id, family, version, isBeta })),
    );
  });

  test('a server is renamed, rebooted, reinstalled and waited for', async () => {
    const { id } = await scaleway.order({ zone, name: 'one', family: 'Sequoia' });
    const renamed = await macs.updateServer({ zone, serverId: id, name: 'claimed' });
    assert.deepEqual([renamed.name, renamed.createdAt], ['claimed', new Date(clock.now())]);
    assert.equal((await macs.rebootServer({ zone, serverId: id })).status, 'rebooting');
    clock.advance(90_000);
    const osId = scaleway.images[1]?.id ?? '';
    assert.equal((await macs.reinstallServer({ zone, serverId: id, osId })).status, 'reinstalling');
    clock.advance(10 * 60_000);
    const server = await macs.waitForServer({ zone, serverId: id });
    assert.deepEqual([server.status, server.os?.version], ['ready', '26.5.1']);
  });

  test('keys are registered, listed and deleted', async () => {
    const { id } = await iam.createSSHKey({ name: 'fleet', publicKey: publicKey('fleet'), projectId: projectID });
    const listed = await iam.listSSHKeys({ projectId: projectID }).all();
    assert.deepEqual(
      listed.map((key) => [key.id, key.name, key.publicKey]),
      [[id, 'fleet', publicKey('fleet')]],
    );
    await iam.deleteSSHKey({ sshKeyId: id });
    assert.deepEqual(scaleway.keys(), []);
  });

  describe('an error has its own type', () => {
    const gone = '66666666-6666-4666-8666-666666666666';
    const failure = async (call: Promise<unknown>): Promise<unknown> => {
      try {
        await call;
      } catch (error) {
        return error;
      }
      return assert.fail('was not refused');
    };

    test('a missing server', async () => {
      const error = await failure(macs.getServer({ zone, serverId: gone }));
      assert(error instanceof Errors.ResourceNotFoundError);
      assert.deepEqual([error.status, error.resource, error.resourceId], [404, 'server', gone]);
    });

    test('a state that forbids the call', async () => {
      const server = await scaleway.order({ zone, name: 'busy' });
      server.status = 'rebooting';
      const error = await failure(macs.reinstallServer({ zone, serverId: server.id }));
      assert(error instanceof Errors.TransientStateError);
      assert.deepEqual([error.status, error.currentState, error.resourceId], [409, 'rebooting', server.id]);
    });

    test('a missing permission', async () => {
      const error = await failure(iam.listSSHKeys({}));
      assert(error instanceof Errors.PermissionsDeniedError);
      assert.deepEqual([error.status, error.message], [403, 'insufficient permissions: list ssh_key']);
    });

    test('an invalid argument', async () => {
      const [server] = scaleway.servers();
      assert(server);
      const error = await failure(macs.reinstallServer({ zone, serverId: server.id, osId: gone }));
      assert(error instanceof Errors.InvalidArgumentsError);
      assert.deepEqual([error.details[0]?.argumentName, error.details[0]?.reason], ['os_id', 'constraint']);
    });

    test('an early deletion', async () => {
      const { id } = await scaleway.order({ zone, name: 'young' });
      const error = await failure(macs.deleteServer({ zone, serverId: id }));
      assert(error instanceof Errors.PreconditionFailedError);
      assert.equal(error.status, 412);
    });

    test('an unknown API key', async () => {
      const client = createClient({ apiURL: scaleway.url, accessKey: 'SCW00000000000000000', secretKey: gone });
      const error = await failure(new Applesiliconv1alpha1.API(client).listServers({ zone }));
      assert(error instanceof Errors.DeniedAuthenticationError);
      assert.deepEqual([error.status, error.reason], [401, 'not_found']);
    });

    test('too many requests', async () => {
      const slow = await startScaleway({ clock, secretKey, rateLimit: 0 });
      try {
        const client = createClient({ apiURL: slow.url, accessKey: 'SCW00000000000000000', secretKey });
        const error = await failure(new Applesiliconv1alpha1.API(client).listServers({ zone }));
        assert(error instanceof Errors.TooManyRequestsError);
        assert.deepEqual([error.status, error.limit?.quota, error.resetSeconds], [429, 0, 1]);
        assert.deepEqual(error.resetAt, new Date(clock.now() + 1000));
      } finally {
        await slow.stop();
      }
    });

    test('a locked server', async () => {
      const server = await scaleway.order({ zone, name: 'locked' });
      server.status = 'locked';
      assert((await failure(macs.rebootServer({ zone, serverId: server.id }))) instanceof Errors.ResourceLockedError);
    });
  });
});
