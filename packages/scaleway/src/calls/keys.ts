import { invalidRequest, ScalewayError } from '../errors/scaleway-error.ts';
import type { HostPool } from '../host-pool.ts';
import { type CallContext, validatePathSegments } from '../http/sdk-client.ts';
import { listAllPages, pageSize } from './pagination.ts';
import { emptyResponse, keyResponse, keysResponse, toKey } from './responses.ts';

type KeyCalls = Pick<HostPool, 'listKeys' | 'createKey' | 'deleteKey'>;

export const keyCalls = ({ callSDK, projectID }: CallContext): KeyCalls => ({
  listKeys: async (options = {}) => {
    const what = 'list the SSH keys of the project';
    const keys = await listAllPages(what, async (page) => {
      // Without the project this is the list of the organization, which a key of one project may not see (INC-333).
      const request = { projectId: projectID, page, pageSize, orderBy: 'created_at_asc' } as const;
      const answer = await callSDK('listKeys', what, keysResponse, options, ({ iam }) => iam.listSSHKeys(request));
      return { items: answer.sshKeys, total: answer.totalCount };
    });
    // A disabled key is put on no Mac: to us it is not there.
    return keys.filter((key) => !key.disabled && ['', projectID].includes(key.projectId)).map(toKey);
  },

  createKey: async (name, publicKey, options = {}) => {
    const what = `register the SSH key ${name}`;
    // The SDK would make up a name.
    if (name === '') throw invalidRequest(what, 'it has no name');
    const request = { name, publicKey, projectId: projectID };
    return toKey(await callSDK('createKey', what, keyResponse, options, ({ iam }) => iam.createSSHKey(request)));
  },

  deleteKey: async (id, options = {}) => {
    const what = `delete the SSH key ${id}`;
    validatePathSegments(what, id);
    try {
      await callSDK('deleteKey', what, emptyResponse, options, ({ iam }) => iam.deleteSSHKey({ sshKeyId: id }));
    } catch (error) {
      if (!(error instanceof ScalewayError && error.kind === 'not found')) throw error;
    }
  },
});
