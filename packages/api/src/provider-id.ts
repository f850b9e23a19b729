/** What binds a Machine to its Node: both must hold the same text, to the byte (C8). */

const scheme = 'scw-applesilicon';

export interface ServerAddress {
  readonly zone: string;
  readonly serverID: string;
}

/** cluster-autoscaler compares what stands behind the last slash only, so that is the id, which no other server has. */
export const formatProviderID = ({ zone, serverID }: ServerAddress): string => `${scheme}://${zone}/${serverID}`;

/** Undefined for one that is not of our making. */
export const parseProviderID = (providerID: string): ServerAddress | undefined => {
  const [, zone, serverID] = /^scw-applesilicon:\/\/([^/]+)\/([^/]+)$/.exec(providerID) ?? [];
  return zone === undefined || serverID === undefined ? undefined : { zone, serverID };
};
