import { macHost, type MacHost } from '@tartan/api';
import { type CallOptions, type Client, isKubeError, type Live } from '@tartan/kube';

/** The MacHost as the server has it now; undefined when there is none. */
export const readHost = async (
  client: Pick<Client, 'get'>,
  name: string,
  options: CallOptions = {},
): Promise<Live<MacHost> | undefined> => {
  try {
    return await client.get(macHost.resource, { name }, options);
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};
