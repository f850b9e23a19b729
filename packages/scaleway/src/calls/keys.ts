import { invalidRequest, ScalewayError } from '../errors/scaleway-error.ts';
import type { HostPool } from '../host-pool.ts';
import { type CallContext, validatePathSegments } from '../http/transport.ts';
import { listAllPages, listFlow, pageSize } from './pagination.ts';
import { emptyResponse, keyResponse, keysResponse, toKey } from './responses.ts';

type KeyCalls = Pick<HostPool, 'listKeys' | 'createKey' | 'deleteKey'>;

const path = '/iam/v1alpha1/ssh-keys';

export const keyCalls = ({ send, projectID }: CallContext): KeyCalls => ({
  listKeys: async ({ signal } = {}) => {
    const what = 'list the SSH keys of the project';
    const keys = await listAllPages(what, async (page) => {
      // Without the project this is the list of the organization, which a project's API key may not read (INC-333).
      const query = { order_by: 'created_at_asc', page, page_size: pageSize, project_id: projectID };
      const { ssh_keys: items, total_count: total } = await send({
        operation: 'listKeys',
        what,
        method: 'GET',
        path,
        query,
        response: keysResponse,
        signal,
        flow: listFlow,
      });
      return { items, total };
    });
    // Scaleway does not install a disabled key on Macs: it counts as absent.
    return keys.filter((key) => !key.disabled && ['', projectID].includes(key.project_id)).map(toKey);
  },

  createKey: async (name, publicKey, { signal, flow } = {}) => {
    const what = `register the SSH key ${name}`;
    if (name === '') throw invalidRequest(what, 'it has no name');
    const body = { name, project_id: projectID, public_key: publicKey };
    return toKey(
      await send({ operation: 'createKey', what, method: 'POST', path, body, response: keyResponse, signal, flow }),
    );
  },

  deleteKey: async (id, { signal, flow } = {}) => {
    const what = `delete the SSH key ${id}`;
    validatePathSegments(what, id);
    try {
      await send({
        operation: 'deleteKey',
        what,
        method: 'DELETE',
        path: `${path}/${id}`,
        response: emptyResponse,
        signal,
        flow,
      });
    } catch (error) {
      if (!(error instanceof ScalewayError && error.kind === 'not found')) throw error;
    }
  },
});
