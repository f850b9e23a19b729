import type { Applesiliconv1alpha1 } from '@scaleway/sdk-applesilicon';
import { garbled } from '../errors/failures.ts';
import type { CallOptions, HostPool, Server } from '../host-pool.ts';
import type { OperationName } from '../operations.ts';
import { imagesAnswer, serverAnswer, serversAnswer } from '../wire/answers.ts';
import { followPages, pageSize } from '../wire/follow-pages.ts';
import { toImage, toServer } from '../wire/from-sdk.ts';
import { type Caller, checkPath } from './caller.ts';
import { goneOrDenied } from './gone-or-denied.ts';

type ServerCalls = Pick<HostPool, 'listServers' | 'getServer' | 'rename' | 'reinstall' | 'reboot' | 'listImages'>;

export const serverCalls = ({ ask, projectID, hide }: Caller): ServerCalls => {
  const ours = (from: Applesiliconv1alpha1.Server, zone: string): Server => {
    const server = toServer(from, zone);
    if (server.password !== undefined) hide(server.password.reveal());
    return server;
  };

  const listServers: HostPool['listServers'] = async (zone, options = {}) => {
    const what = `list the servers of ${zone}`;
    checkPath(what, zone);
    const servers = await followPages(what, async (page) => {
      const request = { zone, projectId: projectID, page, pageSize, orderBy: 'created_at_asc' } as const;
      const answer = await ask('listServers', what, serversAnswer, options, ({ macs }) => macs.listServers(request));
      return { items: answer.servers, total: answer.totalCount };
    });
    // Told of another project's hosts all the same, we would sweep what is somebody else's (G-19).
    return servers.filter((server) => ['', projectID].includes(server.projectId)).map((server) => ours(server, zone));
  };

  /** Asks about one server; the answer has to be about that one. */
  const askAbout = async (
    operation: OperationName,
    does: string,
    [zone, id, options]: [zone: string, id: string, options: CallOptions],
    request: (
      macs: Applesiliconv1alpha1.API,
      at: { zone: string; serverId: string },
    ) => Promise<Applesiliconv1alpha1.Server>,
  ): Promise<Server> => {
    const what = `${does} ${id} in ${zone}`;
    checkPath(what, zone, id);
    try {
      const answer = await ask(operation, what, serverAnswer, options, ({ macs }) =>
        request(macs, { zone, serverId: id }),
      );
      if (answer.id !== id) throw garbled(what, 'it is about another server');
      return ours(answer, zone);
    } catch (error) {
      throw await goneOrDenied(error, what, id, () => listServers(zone, options));
    }
  };

  return {
    listServers,
    getServer: (zone, id, options = {}) =>
      askAbout('getServer', 'show server', [zone, id, options], (macs, at) => macs.getServer(at)),

    rename: (zone, id, name, options = {}) =>
      askAbout('rename', `give the name ${name} to server`, [zone, id, options], (macs, at) =>
        macs.updateServer({ ...at, name }),
      ),

    reinstall: async (zone, id, osID, options = {}) => {
      await askAbout('reinstall', 'reinstall server', [zone, id, options], (macs, at) =>
        macs.reinstallServer({ ...at, ...(osID === undefined ? {} : { osId: osID }) }),
      );
    },

    reboot: async (zone, id, options = {}) => {
      await askAbout('reboot', 'reboot server', [zone, id, options], (macs, at) => macs.rebootServer(at));
    },

    listImages: async (zone, serverType, options = {}) => {
      const what = `list the images for ${serverType} in ${zone}`;
      checkPath(what, zone);
      const images = await followPages(what, async (page) => {
        const request = { zone, serverType, page, pageSize };
        const answer = await ask('listImages', what, imagesAnswer, options, ({ macs }) => macs.listOS(request));
        return { items: answer.os, total: answer.totalCount };
      });
      return images.map(toImage);
    },
  };
};
