import type { z } from 'zod';
import { garbled, notFound, ScalewayError } from '../errors/scaleway-error.ts';
import type { CallOptions, HostPool, Server } from '../host-pool.ts';
import { type Call, type CallContext, validatePathSegments } from '../http/transport.ts';
import { listAllPages, listFlow, pageSize } from './pagination.ts';
import { imagesResponse, serverResponse, serversResponse, toServer } from './responses.ts';

/**
 * Scaleway sometimes answers 403 for a deleted server, as if a permission was missing (recorded by terraform-provider-scaleway in 2025 and
 * 2026). The list of the zone tells the two apart: if it can be read and does not have the server, the server is gone. In doubt the error
 * stays `denied`, as only a server that is gone may be skipped: that takes a list that began after the refusal.
 */
const notFoundOrDenied = async (
  error: unknown,
  what: string,
  isListed: (maxAgeMs: number) => Promise<boolean>,
): Promise<unknown> => {
  if (!(error instanceof ScalewayError) || error.kind !== 'denied') return error;
  try {
    return (await isListed(recentListMs)) || (await isListed(0)) ? error : notFound(what);
  } catch (unreadable) {
    return unreadable instanceof ScalewayError ? error : unreadable;
  }
};

/** Many servers may be refused at once. */
const recentListMs = 10_000;

type ServerCalls = Pick<HostPool, 'listServers' | 'getServer' | 'rename' | 'reinstall' | 'reboot' | 'listImages'>;

const zonePath = (zone: string): string => `/apple-silicon/v1alpha1/zones/${zone}`;

export const serverCalls = ({ send, projectID, lists, addSecret }: CallContext): ServerCalls => {
  const toOurs = (from: z.output<typeof serverResponse>, zone: string): Server => {
    const server = toServer(from, zone);
    if (server.password !== undefined) addSecret(server.password.reveal());
    return server;
  };

  const readServers = async (zone: string, what: string, signal: AbortSignal): Promise<Server[]> => {
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
        flow: listFlow,
      });
      return { items, total };
    });
    // If Scaleway lists hosts of another project anyway, we must not release them.
    return servers
      .filter((server) => ['', projectID].includes(server.project_id))
      .map((server) => toOurs(server, zone));
  };

  const listServers: HostPool['listServers'] = async (zone, options = {}) => {
    const what = `list the servers of ${zone}`;
    validatePathSegments(what, zone);
    return lists.servers.read(zone, options, (signal) => readServers(zone, what, signal));
  };

  /** A call about one server; checks that the response is about that one. */
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
      const { signal, flow } = options;
      const server = await send({ ...rest, what, path, response: serverResponse, signal, flow });
      if (server.id !== id) throw garbled(what, 'it is about another server');
      return toOurs(server, zone);
    } catch (error) {
      throw await notFoundOrDenied(error, what, async (maxAgeMs) =>
        (await listServers(zone, { ...options, maxAgeMs })).some((server) => server.id === id),
      );
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

    listImages: async (zone, serverType, options = {}) => {
      const what = `list the images for ${serverType} in ${zone}`;
      validatePathSegments(what, zone);
      return lists.images.read(`${zone} ${serverType}`, options, (signal) =>
        listAllPages(what, async (page) => {
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
            flow: listFlow,
          });
          return { items, total };
        }),
      );
    },
  };
};
