import type { Applesiliconv1alpha1 } from '@scaleway/sdk-applesilicon';
import { garbled, notFound, ScalewayError } from '../errors/scaleway-error.ts';
import type { CallOptions, HostPool, Server } from '../host-pool.ts';
import { type CallContext, validatePathSegments } from '../http/sdk-client.ts';
import type { OperationName } from '../operations.ts';
import { listAllPages, pageSize } from './pagination.ts';
import { imagesResponse, serverResponse, serversResponse, toImage, toServer } from './responses.ts';

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

export const serverCalls = ({ callSDK, projectID, addSecret }: CallContext): ServerCalls => {
  const toOurs = (from: Applesiliconv1alpha1.Server, zone: string): Server => {
    const server = toServer(from, zone);
    if (server.password !== undefined) addSecret(server.password.reveal());
    return server;
  };

  const listServers: HostPool['listServers'] = async (zone, options = {}) => {
    const what = `list the servers of ${zone}`;
    validatePathSegments(what, zone);
    const servers = await listAllPages(what, async (page) => {
      const request = { zone, projectId: projectID, page, pageSize, orderBy: 'created_at_asc' } as const;
      const answer = await callSDK('listServers', what, serversResponse, options, ({ macs }) =>
        macs.listServers(request),
      );
      return { items: answer.servers, total: answer.totalCount };
    });
    // Told of another project's hosts all the same, we would sweep what is somebody else's.
    return servers.filter((server) => ['', projectID].includes(server.projectId)).map((server) => toOurs(server, zone));
  };

  /** Asks about one server; the answer has to be about that one. */
  const callServer = async (
    operation: OperationName,
    does: string,
    [zone, id, options]: [zone: string, id: string, options: CallOptions],
    request: (
      macs: Applesiliconv1alpha1.API,
      at: { zone: string; serverId: string },
    ) => Promise<Applesiliconv1alpha1.Server>,
  ): Promise<Server> => {
    const what = `${does} ${id} in ${zone}`;
    validatePathSegments(what, zone, id);
    try {
      const answer = await callSDK(operation, what, serverResponse, options, ({ macs }) =>
        request(macs, { zone, serverId: id }),
      );
      if (answer.id !== id) throw garbled(what, 'it is about another server');
      return toOurs(answer, zone);
    } catch (error) {
      throw await notFoundOrDenied(error, what, id, () => listServers(zone, options));
    }
  };

  return {
    listServers,
    getServer: (zone, id, options = {}) =>
      callServer('getServer', 'show server', [zone, id, options], (macs, at) => macs.getServer(at)),

    rename: (zone, id, name, options = {}) =>
      callServer('rename', `give the name ${name} to server`, [zone, id, options], (macs, at) =>
        macs.updateServer({ ...at, name }),
      ),

    reinstall: async (zone, id, osID, options = {}) => {
      await callServer('reinstall', 'reinstall server', [zone, id, options], (macs, at) =>
        macs.reinstallServer({ ...at, ...(osID === undefined ? {} : { osId: osID }) }),
      );
    },

    reboot: async (zone, id, options = {}) => {
      await callServer('reboot', 'reboot server', [zone, id, options], (macs, at) => macs.rebootServer(at));
    },

    listImages: async (zone, serverType, options = {}) => {
      const what = `list the images for ${serverType} in ${zone}`;
      validatePathSegments(what, zone);
      const images = await listAllPages(what, async (page) => {
        const request = { zone, serverType, page, pageSize };
        const answer = await callSDK('listImages', what, imagesResponse, options, ({ macs }) => macs.listOS(request));
        return { items: answer.os, total: answer.totalCount };
      });
      return images.map(toImage);
    },
  };
};
