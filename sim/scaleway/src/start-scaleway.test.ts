import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import type { ScalewayOptions, SimulatedScaleway } from './scaleway.ts';
import { startScaleway } from './start-scaleway.ts';
import { sendRequest, sshKeysPath, zonePath, projectID, publicKey, secretKey } from './testing/requests.ts';

const minute = 60_000;

describe('Scaleway', () => {
  let clock: ManualClock;
  let scaleway: SimulatedScaleway;
  const running: SimulatedScaleway[] = [];
  const start = async (options: ScalewayOptions = {}): Promise<SimulatedScaleway> => {
    scaleway = await startScaleway({ clock, pace: 1, secretKey, projectID, ...options });
    running.push(scaleway);
    return scaleway;
  };
  beforeEach(async () => {
    clock = manualClock();
    await start();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
  });
  const get = async (id: string) => (await sendRequest(scaleway, `GET ${zonePath}/servers/${id}`)).body;
  const order = (name = 'pool-1', more: object = {}) => scaleway.order({ zone: 'fr-par-1', name, ...more });

  describe('servers', () => {
    test('have every field of a recorded response (terraform-provider-scaleway, testdata of applesilicon)', async () => {
      const { id } = await order('pool-1', { family: 'Sequoia', type: 'M4-M' });
      const server = await get(id);
      assert.deepEqual(
        Object.keys(server).toSorted(),
        (
          'applied_runner_configuration_ids commitment created_at deletable_at deletion_scheduled delivered id ip name organization_id ' +
          'os project_id public_bandwidth_bps runner_configuration ssh_username status sudo_password tags type updated_at vnc_port ' +
          'vnc_url vpc_status zone'
        ).split(' '),
      );
      assert.deepEqual(
        Object.keys(server['os'] as object).toSorted(),
        (
          'compatible_server_types description family id image_url is_beta label name release_notes_url supported_server_types tags ' +
          'version xcode_version'
        ).split(' '),
      );
      const { status, delivered, type, zone, name, ssh_username } = server;
      assert.deepEqual(
        { status, delivered, type, zone, name, ssh_username },
        { status: 'ready', delivered: true, type: 'M4-M', zone: 'fr-par-1', name: 'pool-1', ssh_username: 'm1' },
      );
      assert.equal((server['os'] as { family: string }).family, 'Sequoia');
    });

    test('are listed oldest first, in pages, with the total count (SDK, order_by and total_count)', async () => {
      for (const name of ['a', 'b', 'c']) await order(name);
      await scaleway.order({ zone: 'fr-par-3', name: 'in another zone' });
      const names = async (query: string) => {
        const { body } = await sendRequest(scaleway, `GET ${zonePath}/servers?${query}`);
        return [(body['servers'] as { name: string }[]).map(({ name }) => name).join(''), body['total_count']];
      };
      assert.deepEqual(await names(''), ['abc', 3]);
      assert.deepEqual(await names('page_size=2'), ['ab', 3]);
      assert.deepEqual(await names('page_size=2&page=2'), ['c', 3]);
      assert.deepEqual(await names('page_size=2&page=3'), ['', 3]);
      assert.deepEqual(await names('order_by=created_at_desc'), ['cba', 3]);
    });

    test('a deleted server is a 404 that names it (SDK, ResourceNotFoundError), or a 403 (recorded)', async () => {
      const id = '33333333-3333-4333-8333-333333333333';
      assert.deepEqual(await sendRequest(scaleway, `GET ${zonePath}/servers/${id}`), {
        status: 404,
        body: { type: 'not_found', message: 'resource is not found', resource: 'server', resource_id: id },
      });
      scaleway.faults.goneServer = 'denied';
      assert.deepEqual(await sendRequest(scaleway, `GET ${zonePath}/servers/${id}`), {
        status: 403,
        body: {
          type: 'permissions_denied',
          message: 'insufficient permissions',
          details: [{ action: 'read', resource: 'server' }],
        },
      });
    });

    test('a server of another zone is not found', async () => {
      const { id } = await order();
      assert.equal(
        (await sendRequest(scaleway, `GET ${zonePath.replace('par-1', 'par-3')}/servers/${id}`)).status,
        404,
      );
    });

    test('a zone without Macs is refused as the gateway does (scaleway-cli#4378)', async () => {
      assert.deepEqual(await sendRequest(scaleway, 'GET /apple-silicon/v1alpha1/zones/nl-ams-9/servers'), {
        status: 400,
        body: { message: 'Unknown zone in path' },
      });
      await assert.rejects(scaleway.order({ zone: 'nl-ams-9', name: 'x' }), /no Macs in nl-ams-9/);
    });

    test('a rename is unconditional: the last one wins', async () => {
      const { id } = await order();
      assert.equal(
        (await sendRequest(scaleway, `PATCH ${zonePath}/servers/${id}`, { name: 'mine' })).body['name'],
        'mine',
      );
      await sendRequest(scaleway, `PATCH ${zonePath}/servers/${id}`, { name: 'yours' });
      assert.equal((await get(id))['name'], 'yours');
    });

    test('a rename in the console is visible in the API', async () => {
      const server = await order();
      server.name = 'by hand';
      server.status = 'locked';
      const { name, status } = await get(server.id);
      assert.deepEqual({ name, status }, { name: 'by hand', status: 'locked' });
    });

    test('can be deleted after 24 hours only (SDK, deleteServer)', async () => {
      const { id } = await order();
      clock.advance(24 * 60 * minute - 1);
      const early = await sendRequest(scaleway, `DELETE ${zonePath}/servers/${id}`);
      assert.equal(early.status, 412);
      assert.equal(early.body['type'], 'precondition_failed');
      assert.equal(scaleway.servers().length, 1);
      clock.advance(1);
      assert.equal((await sendRequest(scaleway, `DELETE ${zonePath}/servers/${id}`)).status, 204);
      assert.deepEqual(scaleway.servers(), []);
    });

    test('a thousand servers are listed in ten pages', async () => {
      for (let number = 0; number < 1000; number++) await order(`pool-${number}`);
      const seen = new Set<unknown>();
      for (let page = 1; page <= 10; page++) {
        const { body } = await sendRequest(scaleway, `GET ${zonePath}/servers?page_size=100&page=${page}`);
        for (const { id } of body['servers'] as { id: string }[]) seen.add(id);
      }
      assert.equal(seen.size, 1000);
      assert.equal(new Set(scaleway.servers().map(({ id }) => id)).size, 1000);
    });
  });

  describe('a reboot', () => {
    test('is visible at once, and takes a minute and a half', async () => {
      const { id } = await order();
      const { status, body } = await sendRequest(scaleway, `POST ${zonePath}/servers/${id}/reboot`, {});
      assert.deepEqual([status, body['status']], [200, 'rebooting']);
      clock.advance(90_000 - 1);
      assert.equal((await get(id))['status'], 'rebooting');
      clock.advance(1);
      assert.equal((await get(id))['status'], 'ready');
    });

    test('takes as long as the pace setting says', async () => {
      await start({ pace: 0.1 });
      const { id } = await order();
      await sendRequest(scaleway, `POST ${zonePath}/servers/${id}/reboot`, {});
      clock.advance(9000);
      assert.equal((await get(id))['status'], 'ready');
    });

    test('does not end a state that was set meanwhile', async () => {
      const server = await order();
      await sendRequest(scaleway, `POST ${zonePath}/servers/${server.id}/reboot`, {});
      server.status = 'locked';
      clock.advance(90_000);
      assert.equal((await get(server.id))['status'], 'locked');
    });
  });

  describe('a reinstall', () => {
    const reinstall = (id: string, body: unknown = {}) =>
      sendRequest(scaleway, `POST ${zonePath}/servers/${id}/reinstall`, body);
    const image = (name: string) => {
      const found = scaleway.images.find((each) => each.name === name);
      assert(found);
      return found;
    };

    test('takes ten minutes; the server stays delivered (SDK, Server.delivered)', async () => {
      const server = await order();
      const { status, body } = await reinstall(server.id);
      assert.deepEqual([status, body['status']], [200, 'reinstalling']);
      clock.advance(10 * minute - 1);
      const during = await get(server.id);
      assert.deepEqual([during['status'], during['delivered']], ['reinstalling', true]);
      assert.equal(server.installs, 0);
      clock.advance(1);
      assert.equal((await get(server.id))['status'], 'ready');
      assert.equal(server.installs, 1);
    });

    test('installs the requested image, or the default of the server type', async () => {
      const server = await order('pool-1', { family: 'Sequoia' });
      const wanted = image('macos-tahoe-26.5');
      await reinstall(server.id, { os_id: wanted.id });
      assert.equal(server.os.family, 'Sequoia', 'as long as it is not done');
      clock.advance(10 * minute);
      assert.equal(((await get(server.id))['os'] as { name: string }).name, 'macos-tahoe-26.5');
      scaleway.images.unshift(...scaleway.images.splice(scaleway.images.indexOf(image('macos-sequoia-15.6')), 1));
      await reinstall(server.id);
      clock.advance(10 * minute);
      assert.equal(server.os.name, 'macos-sequoia-15.6');
    });

    test('never chooses a beta by default', async () => {
      const server = await order();
      scaleway.images.unshift(image('macos-tahoe-26.6-beta'));
      await reinstall(server.id);
      clock.advance(10 * minute);
      assert.equal(server.os.name, 'macos-tahoe-26.3');
    });

    test('creates a new password', async () => {
      const { id } = await order();
      const before = (await get(id))['vnc_url'];
      await reinstall(id);
      clock.advance(10 * minute);
      assert.notEqual((await get(id))['vnc_url'], before);
    });

    for (const [what, osID, reason] of [
      ['unknown', '44444444-4444-4444-8444-444444444444', 'constraint'],
      ['of another type', 'macos-golden-gate-27.0', 'constraint'],
      ['retired', 'macos-tahoe-26.3', 'constraint'],
      ['no UUID', 'tahoe', 'format'],
    ] as const) {
      test(`with an image that is ${what} is refused (INC-328)`, async () => {
        const server = await order('pool-1', { type: 'M1-M' });
        const id = scaleway.images.find(({ name }) => name === osID)?.id ?? osID;
        if (what === 'retired') scaleway.images.shift();
        const { status, body } = await reinstall(server.id, { os_id: id });
        assert.deepEqual([status, body['type']], [400, 'invalid_arguments']);
        const [detail] = body['details'] as { argument_name: string; reason: string }[];
        assert.deepEqual([detail?.argument_name, detail?.reason], ['os_id', reason]);
        assert.equal(server.status, 'ready');
        assert.equal(server.os.name, 'macos-tahoe-26.3', 'a retired image stays where it is installed');
      });
    }

    for (const state of ['starting', 'rebooting', 'reinstalling', 'updating', 'locking', 'unlocking', 'busy']) {
      test(`and a reboot are refused while ${state}, with that state (SDK, TransientStateError)`, async () => {
        const server = await order();
        server.status = state;
        for (const what of ['reinstall', 'reboot']) {
          assert.deepEqual(await sendRequest(scaleway, `POST ${zonePath}/servers/${server.id}/${what}`, {}), {
            status: 409,
            body: {
              type: 'transient_state',
              message: 'resource is in a transient state',
              resource: 'server',
              resource_id: server.id,
              current_state: state,
            },
          });
        }
        assert.equal(server.status, state);
      });
    }

    test('is refused for a locked server (SDK, ResourceLockedError)', async () => {
      const server = await order();
      server.status = 'locked';
      const { status, body } = await reinstall(server.id);
      assert.deepEqual([status, body['type']], [423, 'locked']);
    });

    test('may reject a rename meanwhile, or accept it', async () => {
      const server = await order();
      await reinstall(server.id);
      scaleway.faults.renameWhileReinstalling = 'refused';
      const refused = await sendRequest(scaleway, `PATCH ${zonePath}/servers/${server.id}`, { name: 'new' });
      assert.deepEqual([refused.status, refused.body['current_state'], server.name], [409, 'reinstalling', 'pool-1']);
      scaleway.faults.renameWhileReinstalling = 'accepted';
      assert.equal(
        (await sendRequest(scaleway, `PATCH ${zonePath}/servers/${server.id}`, { name: 'new' })).status,
        200,
      );
      assert.equal(server.name, 'new');
    });

    test('may fail, and the server is in error until one succeeds', async () => {
      const server = await order();
      scaleway.faults.reinstallFails.add(server.id);
      await reinstall(server.id);
      clock.advance(10 * minute);
      assert.equal((await get(server.id))['status'], 'error');
      assert.equal(server.installs, 0);
      scaleway.faults.reinstallFails.clear();
      assert.equal((await reinstall(server.id)).status, 200);
      clock.advance(10 * minute);
      assert.deepEqual([server.status, server.installs], ['ready', 1]);
    });

    test('may end like a success without having changed anything (decision 5)', async () => {
      const server = await order();
      const before = (await get(server.id))['vnc_url'];
      scaleway.faults.reinstallDoesNotWipe.add(server.id);
      await reinstall(server.id, { os_id: image('macos-sequoia-15.6').id });
      assert.equal(server.status, 'reinstalling');
      clock.advance(10 * minute);
      assert.deepEqual([server.status, server.installs, server.os.family], ['ready', 0, 'Tahoe']);
      assert.equal((await get(server.id))['vnc_url'], before);
    });
  });

  describe('passwords', () => {
    const passwords = async (id: string) => {
      const { sudo_password, vnc_url } = await get(id);
      return { sudo: sudo_password as string, vnc: vnc_url as string };
    };

    test('are returned shortly after the order, and later only inside the VNC URL', async () => {
      const { id } = await order();
      const { sudo, vnc } = await passwords(id);
      assert.equal(sudo.length, 12);
      assert.equal(decodeURIComponent(new URL(vnc).password), sudo);
      clock.advance(10 * minute);
      assert.deepEqual(await passwords(id), { sudo: '', vnc });
    });

    test('are sealed in the response to a write (recorded: create and reboot)', async () => {
      const { id } = await order();
      const { body } = await sendRequest(scaleway, `PATCH ${zonePath}/servers/${id}`, { name: 'x' });
      assert.deepEqual([body['sudo_password'], body['vnc_url']], ['<sealed>', '<sealed>']);
    });

    test('may be empty, sealed, or in the VNC URL only (INC-204, INC-207)', async () => {
      const { id } = await order();
      const { vnc } = await passwords(id);
      scaleway.faults.password = 'in vnc_url';
      assert.deepEqual(await passwords(id), { sudo: '', vnc });
      scaleway.faults.password = 'sealed';
      assert.deepEqual(await passwords(id), { sudo: '<sealed>', vnc: '<sealed>' });
      scaleway.faults.password = 'empty';
      const nothing = await passwords(id);
      assert.deepEqual([nothing.sudo, new URL(nothing.vnc).password], ['', '']);
    });
  });

  describe('images', () => {
    const names = async (query: string) => {
      const { body } = await sendRequest(scaleway, `GET ${zonePath}/os?${query}`);
      return (body['os'] as { name: string }[]).map(({ name }) => name);
    };

    test('are those of the server type, and the name filter is a prefix', async () => {
      assert.ok((await names('server_type=M2-L')).includes('devos-tahoe-26.3'));
      assert.ok(!(await names('server_type=M4-M')).includes('devos-tahoe-26.3'));
      assert.deepEqual(await names('name=macos-tahoe'), [
        'macos-tahoe-26.3',
        'macos-tahoe-26.5',
        'macos-tahoe-26.6-beta',
      ]);
      assert.deepEqual(await names('name=tahoe'), []);
    });

    test('change without notice', async () => {
      scaleway.images.splice(0, 3);
      assert.deepEqual(await names('name=macos-tahoe'), []);
    });

    test('are returned in pages', async () => {
      const { body } = await sendRequest(scaleway, `GET ${zonePath}/os?page=2&page_size=3`);
      assert.deepEqual([(body['os'] as unknown[]).length, body['total_count']], [3, 7]);
    });
  });

  describe('SSH keys', () => {
    const create = (name: string, key = publicKey(name), project = projectID) =>
      sendRequest(scaleway, `POST ${sshKeysPath}`, { name, public_key: key, project_id: project });

    test('are registered, listed and deleted', async () => {
      const { body } = await create('fleet');
      const { id, name, public_key, project_id } = body;
      assert.deepEqual(
        { name, public_key, project_id },
        { name: 'fleet', public_key: publicKey('fleet'), project_id: projectID },
      );
      const listed = await sendRequest(scaleway, `GET ${sshKeysPath}?project_id=${projectID}`);
      assert.deepEqual(listed.body, { ssh_keys: [body], total_count: 1 });
      assert.equal((await sendRequest(scaleway, `DELETE ${sshKeysPath}/${String(id)}`)).status, 204);
      assert.equal((await sendRequest(scaleway, `DELETE ${sshKeysPath}/${String(id)}`)).status, 404);
      assert.deepEqual(scaleway.keys(), []);
    });

    test('may have the same name twice (INC-331)', async () => {
      await create('fleet', publicKey('one'));
      await create('fleet', publicKey('two'));
      assert.deepEqual(
        scaleway.keys().map(({ name }) => name),
        ['fleet', 'fleet'],
      );
    });

    test('include those of the whole organization without project_id, which an API key of one project may not list (INC-333)', async () => {
      const denied = await sendRequest(scaleway, `GET ${sshKeysPath}`);
      assert.deepEqual([denied.status, denied.body['details']], [403, [{ action: 'list', resource: 'ssh_key' }]]);
      await start({ scope: 'organization' });
      await create('mine');
      await create('theirs', publicKey('theirs'), '55555555-5555-4555-8555-555555555555');
      assert.equal((await sendRequest(scaleway, `GET ${sshKeysPath}`)).body['total_count'], 2);
      assert.equal((await sendRequest(scaleway, `GET ${sshKeysPath}?project_id=${projectID}`)).body['total_count'], 1);
    });

    test('must be public keys', async () => {
      const { status, body } = await create('fleet', 'ssh-ed25519 AAAA');
      assert.deepEqual([status, body['type']], [400, 'invalid_arguments']);
      assert.equal(
        (await sendRequest(scaleway, `POST ${sshKeysPath}`, { name: 'x', public_key: publicKey('x') })).status,
        400,
      );
    });
  });

  describe('authentication and permissions', () => {
    test('a request without a valid key is rejected (recorded texts)', async () => {
      for (const [token, reason] of [
        ['', 'invalid_argument'],
        ['not a UUID', 'invalid_argument'],
        [projectID, 'not_found'],
      ] as const) {
        assert.deepEqual(await sendRequest(scaleway, `GET ${zonePath}/servers`, undefined, token), {
          status: 401,
          body: { type: 'denied_authentication', message: 'authentication is denied', method: 'api_key', reason },
        });
      }
    });

    test('without the permission set, 403 names action and resource (INC-333)', async () => {
      await start({ permissions: ['AppleSiliconReadOnly'] });
      const { id } = await order();
      assert.equal((await sendRequest(scaleway, `GET ${zonePath}/servers`)).status, 200);
      const { status, body } = await sendRequest(scaleway, `PATCH ${zonePath}/servers/${id}`, { name: 'x' });
      assert.deepEqual([status, body['details']], [403, [{ action: 'update', resource: 'server' }]]);
      assert.equal((await sendRequest(scaleway, `GET ${sshKeysPath}?project_id=${projectID}`)).status, 403);
    });

    test('a key of one project neither sees nor changes another project', async () => {
      const theirs = await order('theirs', { projectID: '55555555-5555-4555-8555-555555555555' });
      assert.equal((await sendRequest(scaleway, `GET ${zonePath}/servers`)).body['total_count'], 0);
      assert.equal((await sendRequest(scaleway, `GET ${zonePath}/servers?project_id=${theirs.projectID}`)).status, 403);
      assert.equal((await sendRequest(scaleway, `POST ${zonePath}/servers/${theirs.id}/reinstall`, {})).status, 403);
      assert.equal(theirs.status, 'ready');
    });

    test('a key of the organization sees every project unless it filters', async () => {
      await start({ scope: 'organization' });
      await order('mine');
      await order('theirs', { projectID: '55555555-5555-4555-8555-555555555555' });
      assert.equal((await sendRequest(scaleway, `GET ${zonePath}/servers`)).body['total_count'], 2);
      assert.equal(
        (await sendRequest(scaleway, `GET ${zonePath}/servers?project_id=${projectID}`)).body['total_count'],
        1,
      );
    });

    test('over the rate limit, 429 has the reset time (SDK, TooManyRequestsError)', async () => {
      await start({ rateLimit: 2 });
      const list = () => sendRequest(scaleway, `GET ${zonePath}/servers`);
      assert.deepEqual([(await list()).status, (await list()).status], [200, 200]);
      clock.advance(400);
      const { status, body } = await list();
      assert.equal(status, 429);
      assert.deepEqual(body, {
        type: 'too_many_requests',
        message: 'too many requests',
        help_message: 'slow down',
        limit: { quota: 2, window_seconds: 1 },
        reset_seconds: 1,
        reset_at: new Date(clock.now() + 600).toISOString(),
      });
      clock.advance(600);
      assert.equal((await list()).status, 200);
    });
  });

  describe('faults', () => {
    test('a response with a status has no effect, as often as configured', async () => {
      const server = await order();
      const fault = { match: /^PATCH .*\/servers\/[^/]+$/, times: 2, with: { status: 503, body: { message: 'no' } } };
      scaleway.faults.calls.push(fault);
      for (let times = 0; times < 2; times++) {
        const { status, body } = await sendRequest(scaleway, `PATCH ${zonePath}/servers/${server.id}`, { name: 'x' });
        assert.deepEqual([status, body, server.name], [503, { message: 'no' }, 'pool-1']);
      }
      assert.equal(fault.times, 0);
      assert.equal((await sendRequest(scaleway, `PATCH ${zonePath}/servers/${server.id}`, { name: 'x' })).status, 200);
    });

    test('a RegExp with the flag g matches every call', async () => {
      scaleway.faults.calls.push({ match: /servers/g, times: 2, with: { status: 500 } });
      assert.equal((await sendRequest(scaleway, `GET ${zonePath}/servers`)).status, 500);
      assert.equal((await sendRequest(scaleway, `GET ${zonePath}/servers`)).status, 500);
    });

    test('a lost response is to a request that took effect', async () => {
      const server = await order();
      scaleway.faults.calls.push({ match: /reinstall$/, times: 1, with: 'lost' });
      await assert.rejects(
        sendRequest(scaleway, `POST ${zonePath}/servers/${server.id}/reinstall`, {}),
        /fetch failed/,
      );
      assert.equal(server.status, 'reinstalling');
    });

    test('a request that hangs has no effect, and does not delay the stop', async () => {
      const server = await order();
      scaleway.faults.calls.push({ match: /reboot$/, times: 1, with: 'hang' });
      const hanging = assert.rejects(
        sendRequest(scaleway, `POST ${zonePath}/servers/${server.id}/reboot`, {}),
        /fetch failed/,
      );
      while (scaleway.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(server.status, 'ready');
      await scaleway.stop();
      await hanging;
    });

    test('every request is recorded in order, with its query', async () => {
      await sendRequest(scaleway, `GET ${zonePath}/servers?page=1&project_id=${projectID}`);
      await sendRequest(scaleway, 'POST /nowhere', {});
      assert.deepEqual(scaleway.requests, [`GET ${zonePath}/servers?page=1&project_id=${projectID}`, 'POST /nowhere']);
    });

    test('invalid requests are 400', async () => {
      const { id } = await order();
      for (const [call, body] of [
        [`GET ${zonePath}/servers?page=0`, undefined],
        [`GET ${zonePath}/servers?page_size=101`, undefined],
        [`GET ${zonePath}/servers?page_size=x`, undefined],
        [`GET ${zonePath}/servers?order_by=name`, undefined],
        [`GET ${zonePath}/servers/pool-1`, undefined],
        [`PATCH ${zonePath}/servers/${id}`, { name: 1 }],
        [`PATCH ${zonePath}/servers/${id}`, { name: '' }],
        [`PATCH ${zonePath}/servers/${id}`, '{'],
        [`POST ${zonePath}/servers/${id}/reinstall`, '[]'],
        [`DELETE ${sshKeysPath}/fleet`, undefined],
      ] as const) {
        const answer = await sendRequest(scaleway, call, body);
        assert.deepEqual([answer.status, answer.body['type']], [400, 'invalid_arguments'], call);
      }
      assert.equal((await sendRequest(scaleway, 'GET /nowhere')).status, 404);
    });

    test('nothing happens after the stop', async () => {
      const server = await order();
      await sendRequest(scaleway, `POST ${zonePath}/servers/${server.id}/reboot`, {});
      await scaleway.stop();
      clock.advance(90_000);
      assert.equal(server.status, 'rebooting');
      await scaleway.stop();
      await assert.rejects(order(), /stopped/);
    });
  });
});
