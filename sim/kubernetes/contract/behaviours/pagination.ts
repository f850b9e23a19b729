import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { secret } from '../objects.ts';
import { read, readList } from '../read.ts';
import type { Trial } from '../trial.ts';

const five = async (trial: Trial): Promise<string> => {
  const secrets = await trial.collection('secrets');
  for (const name of ['a', 'b', 'c', 'd', 'e']) await trial.create(secrets, secret(name, { all: 'yes' }));
  return secrets;
};

const namesOf = (page: unknown): unknown[] => readList(page, 'items').map((item) => read(item, 'metadata.name'));
const tokenOf = (page: unknown): string => encodeURIComponent(String(read(page, 'metadata.continue')));

export const pagination = topic('pagination', [
  behaviour('pages follow each other, say how many remain, and the last has no token', async (trial) => {
    const secrets = await five(trial);
    const first = await trial.fetch(`${secrets}?limit=2`);
    assert.deepEqual(namesOf(first), ['a', 'b']);
    assert.equal(read(first, 'metadata.remainingItemCount'), 3);
    const second = await trial.fetch(`${secrets}?limit=2&continue=${tokenOf(first)}`);
    assert.deepEqual(namesOf(second), ['c', 'd']);
    assert.equal(read(second, 'metadata.remainingItemCount'), 1);
    const third = await trial.fetch(`${secrets}?limit=2&continue=${tokenOf(second)}`);
    assert.deepEqual(namesOf(third), ['e']);
    assert.equal(read(third, 'metadata.remainingItemCount'), undefined);
    assert.equal(read(third, 'metadata.continue'), undefined);
  }),

  behaviour('later pages show the state of the first, with its resource version', async (trial) => {
    const secrets = await five(trial);
    const first = await trial.fetch(`${secrets}?limit=2`);
    await trial.create(secrets, secret('bb'));
    await trial.remove(`${secrets}/d`);
    const rest = await trial.fetch(`${secrets}?limit=10&continue=${tokenOf(first)}`);
    assert.deepEqual(namesOf(rest), ['c', 'd', 'e']);
    assert.equal(read(rest, 'metadata.resourceVersion'), read(first, 'metadata.resourceVersion'));
  }),

  behaviour('with a selector nobody counts what remains', async (trial) => {
    const secrets = await five(trial);
    const first = await trial.fetch(`${secrets}?limit=2&labelSelector=all%3Dyes`);
    assert.deepEqual(namesOf(first), ['a', 'b']);
    assert.equal(read(first, 'metadata.remainingItemCount'), undefined);
    const rest = await trial.fetch(`${secrets}?limit=10&labelSelector=all%3Dyes&continue=${tokenOf(first)}`);
    assert.deepEqual(namesOf(rest), ['c', 'd', 'e']);
  }),

  behaviour('a limit that everything fits in gives no token', async (trial) => {
    const secrets = await five(trial);
    const page = await trial.fetch(`${secrets}?limit=5`);
    assert.equal(namesOf(page).length, 5);
    assert.equal(read(page, 'metadata.continue'), undefined);
  }),

  behaviour('a token that is none is a bad request', async (trial) => {
    refused(await trial.get(`${await trial.collection('secrets')}?limit=1&continue=xx`), {
      code: 400,
      reason: 'BadRequest',
      message: /^invalid continue token: /,
    });
  }),

  behaviour('a token and a resource version exclude each other', async (trial) => {
    const secrets = await five(trial);
    const token = tokenOf(await trial.fetch(`${secrets}?limit=2`));
    refused(await trial.get(`${secrets}?limit=2&continue=${token}&resourceVersion=4`), {
      code: 400,
      reason: 'BadRequest',
      message: 'specifying resource version is not allowed when using continue',
    });
  }),

  behaviour('a negative limit is no limit', async (trial) => {
    const secrets = await five(trial);
    assert.equal(namesOf(await trial.fetch(`${secrets}?limit=-1`)).length, 5);
  }),
]);
