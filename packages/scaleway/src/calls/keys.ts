import { senseless } from '../errors/failures.ts';
import type { HostPool } from '../host-pool.ts';
import { ScalewayError } from '../scaleway-error.ts';
import { emptyAnswer, keyAnswer, keysAnswer } from '../wire/answers.ts';
import { followPages, pageSize } from '../wire/follow-pages.ts';
import { toKey } from '../wire/from-sdk.ts';
import { type Caller, checkPath } from './caller.ts';

type KeyCalls = Pick<HostPool, 'listKeys' | 'createKey' | 'deleteKey'>;

export const keyCalls = ({ ask, projectID }: Caller): KeyCalls => ({
  listKeys: async (options = {}) => {
    const what = 'list the SSH keys of the project';
    const keys = await followPages(what, async (page) => {
      // Without the project this is the list of the organization, which a key of one project may not see (I-32).
      const request = { projectId: projectID, page, pageSize, orderBy: 'created_at_asc' } as const;
      const answer = await ask('listKeys', what, keysAnswer, options, ({ iam }) => iam.listSSHKeys(request));
      return { items: answer.sshKeys, total: answer.totalCount };
    });
    // A disabled key is put on no Mac: to us it is not there.
    return keys.filter((key) => !key.disabled && ['', projectID].includes(key.projectId)).map(toKey);
  },

  createKey: async (name, publicKey, options = {}) => {
    const what = `register the SSH key ${name}`;
    // The SDK would make up a name.
    if (name === '') throw senseless(what, 'it has no name');
    const request = { name, publicKey, projectId: projectID };
    return toKey(await ask('createKey', what, keyAnswer, options, ({ iam }) => iam.createSSHKey(request)));
  },

  deleteKey: async (id, options = {}) => {
    const what = `delete the SSH key ${id}`;
    checkPath(what, id);
    try {
      await ask('deleteKey', what, emptyAnswer, options, ({ iam }) => iam.deleteSSHKey({ sshKeyId: id }));
    } catch (error) {
      if (!(error instanceof ScalewayError && error.kind === 'not found')) throw error;
    }
  },
});
