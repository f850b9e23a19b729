import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Owner } from '../runner-service.ts';
import { createHarness, labels, organization, repository } from '../testing/harness.ts';

type Rights = Record<string, 'read' | 'write'>;

const withRights = (permissions: Rights): ReturnType<typeof createHarness> =>
  createHarness({ installations: [{ id: 7001, account: 'acme', repositories: ['app'], permissions }] });

describe('missing permissions of an App', () => {
  const rows: readonly [string, Owner, Rights, 'mint' | 'list' | 'queue', RegExp][] = [
    ['none for the organisation', organization, {}, 'list', /organization permission "Self-hosted runners" \(read\)/],
    [
      'only reading for the organisation',
      organization,
      { organization_self_hosted_runners: 'read' },
      'mint',
      /organization permission "Self-hosted runners" \(read and write\)/,
    ],
    ['none for the repository', repository, {}, 'list', /repository permission "Administration" \(read\)/],
    [
      'only reading for the repository',
      repository,
      { administration: 'read' },
      'mint',
      /repository permission "Administration" \(read and write\)/,
    ],
    ['none for jobs', repository, { administration: 'write' }, 'queue', /repository permission "Actions" \(read\)/],
    [
      'none for jobs of the organisation',
      organization,
      { organization_self_hosted_runners: 'write' },
      'queue',
      /repository permission "Actions" \(read\)/,
    ],
  ];
  for (const [what, owner, permissions, call, expected] of rows) {
    test(`names the missing permission: ${what}`, async () => {
      const runners = withRights(permissions).service({ owner });
      const answer = await {
        mint: () => runners.mint({ name: 'one', labels, group: undefined }),
        list: () => runners.list(),
        queue: () => runners.queue(labels),
      }[call]();
      assert.ok(answer.kind === 'problem' && answer.reason === 'Denied');
      assert.match(answer.message, expected);
      assert.match(answer.message, /Resource not accessible by integration/);
    });
  }

  test('every call reports an owner that the App cannot see', async () => {
    const { service } = createHarness();
    for (const owner of [
      { kind: 'organization', organization: 'elsewhere' },
      { kind: 'repository', repository: 'acme/secret' },
    ] as const) {
      const runners = service({ owner });
      for (const answer of [
        await runners.mint({ name: 'one', labels, group: undefined }),
        await runners.list(),
        await runners.find('one'),
        await runners.registrationToken(),
      ]) {
        assert.ok(answer.kind === 'problem' && answer.reason === 'Denied');
        assert.match(answer.message, /the App does not see (?:elsewhere|acme\/secret)/);
      }
    }
  });

  test('404 counts as gone only while the owner is visible', async () => {
    const permissions = { organization_self_hosted_runners: 'write' } as const;
    const installations = [{ id: 7001, account: 'acme', repositories: [], permissions }];
    const { clock, mintRunner, service } = createHarness({ installations });
    const { id } = await mintRunner('one');
    const runners = service();
    assert.deepEqual(await runners.get(id + 1), { kind: 'none' });
    // The App is uninstalled from the organisation.
    installations[0] = { id: 7001, account: 'somebody-else', repositories: [], permissions };
    clock.advance(60 * 60_000);
    for (const answer of [await runners.get(id), await runners.remove(id)]) {
      assert.ok(answer.kind === 'problem' && answer.reason === 'Denied');
      assert.match(answer.message, /does not see acme/);
    }
  });

  test('visibility is cached for a minute, and costs one call', async () => {
    const { github, clock, service } = createHarness();
    const runners = service();
    await runners.get(1);
    await runners.get(1);
    clock.advance(61_000);
    await runners.get(1);
    assert.deepEqual(
      github.requests.filter((request) => request.startsWith('GET')),
      [
        'GET /orgs/acme/actions/runners/1',
        'GET /orgs/acme/actions/runners?per_page=1',
        'GET /orgs/acme/actions/runners/1',
        'GET /orgs/acme/actions/runners/1',
        'GET /orgs/acme/actions/runners?per_page=1',
      ],
    );
  });
});
