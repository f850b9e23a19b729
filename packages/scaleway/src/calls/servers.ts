import type { z } from 'zod';
import { garbled, notFound, ScalewayError } from '../errors/scaleway-error.ts';
import type { CallOptions, HostPool, Server } from '../host-pool.ts';
import { type Call, type CallContext, validatePathSegments } from '../http/transport.ts';
import { listAllPages, pageSize } from './pagination.ts';
import { imagesResponse, serverResponse, serversResponse, toServer } from './responses.ts';

/**
 * A server that was deleted is at times answered for with 403, as if a right was missing (recorded by terraform-provider-scaleway in
 * 2025 and 2026). The list of the zone tells the two apart: whoever may read it and does not find the server there knows that it is
 * gone. In any doubt it stays `denied`, as only what is gone may be skipped.
 */
const notFoundOrDenied = async (
  error: unknown,
  what: string,
  id: string,
  list: () => Promise<readonly Server[]>,
): Promise<unknown> => {
  if (!(error instanceof ScalewayError) || error.kind !== 'denied') return error;
  try {
    return (await list()).some((server) => server.id === id) ? error : notFound(what);
  } catch (unreadable) {
    return unreadable instanceof ScalewayError ? error : unreadable;
  }
};

type ServerCalls = Pick<HostPool, 'listServers' | 'getServer' | 'rename' | 'reinstall' | 'reboot' | 'listImages'>;

const zonePath = (zone: string): string => `/apple-silicon/v1alpha1/zones/${zone}`;

export const serverCalls = ({ send, projectID, addSecret }: CallContext): ServerCalls => {
  const toOurs = (from: z.output<typeof serverResponse>, zone: string): Server => {
    const server = toServer(from, zone);
    if (server.password !== undefined) addSecret(server.password.reveal());
    return server;
  };

  const listServers: HostPool['listServers'] = async (zone, { signal } = {}) => {
    const what = `list the servers of ${zone}`;
    validatePathSegments(what, zone);
    const servers = await listAllPages(what, async (page) => {
      const path = `${zonePath(zone)}/servers`;
      const query = { order_by: 'created_at_asc', page, page_size: pageSize, project_id: projectID };
      const { servers: items, total_count: total } = await send({
        operation: 'listServers',
        what,
        method: 'GET',
        path,
        query,
        response: serversResponse,
        signal,
      });
      return { items, total };
    });
    // Told of another project's hosts all the same, we would sweep what is somebody else's.
    return servers
      .filter((server) => ['', projectID].includes(server.project_id))
      .map((server) => toOurs(server, zone));
  };

  /** Asks about one server; the answer has to be about that one. */
  const callServer = async (
    zone: string,
    id: string,
    options: CallOptions,
    request: Pick<Call<z.ZodType>, 'operation' | 'what' | 'method' | 'body'> & { readonly action?: string },
  ): Promise<Server> => {
    const { action, ...rest } = request;
    const what = `${request.what} ${id} in ${zone}`;
    validatePathSegments(what, zone, id);
    const path = `${zonePath(zone)}/servers/${id}${action === undefined ? '' : `/${action}`}`;
    try {
      const server = await send({ ...rest, what, path, response: serverResponse, signal: options.signal });
      if (server.id !== id) throw garbled(what, 'it is about another server');
      return toOurs(server, zone);
    } catch (error) {
      throw await notFoundOrDenied(error, what, id, () => listServers(zone, options));
    }
  };

  return {
    listServers,
    getServer: (zone, id, options = {}) =>
      callServer(zone, id, options, { operation: 'getServer', what: 'show server', method: 'GET' }),

    rename: (zone, id, name, options = {}) => {
      const what = `give the name ${name} to server`;
      return callServer(zone, id, options, { operation: 'rename', what, method: 'PATCH', body: { name } });
    },

    reinstall: async (zone, id, osID, options = {}) => {
      await callServer(zone, id, options, {
        operation: 'reinstall',
        what: 'reinstall server',
        method: 'POST',
        action: 'reinstall',
        body: osID === undefined ? {} : { os_id: osID },
      });
    },

    reboot: async (zone, id, options = {}) => {
      await callServer(zone, id, options, {
        operation: 'reboot',
        what: 'reboot server',
        method: 'POST',
        action: 'reboot',
        body: {},
      });
    },

    listImages: async (zone, serverType, { signal } = {}) => {
      const what = `list the images for ${serverType} in ${zone}`;
      validatePathSegments(what, zone);
      return listAllPages(what, async (page) => {
        const path = `${zonePath(zone)}/os`;
        const query = { page, page_size: pageSize, server_type: serverType };
        const { os: items, total_count: total } = await send({
          operation: 'listImages',
          what,
          method: 'GET',
          path,
          query,
          response: imagesResponse,
          signal,
        });
        return { items, total };
      });
    },
  };
};
