/** Binds a Machine to its Node: both must have exactly the same text (C8). */

const scheme = 'scw-applesilicon';

export interface ServerAddress {
  readonly zone: string;
  readonly serverID: string;
}

/** cluster-autoscaler compares only the part after the last slash, so that is the id, which is unique. */
export const formatProviderID = ({ zone, serverID }: ServerAddress): string => `${scheme}://${zone}/${serverID}`;

/** Undefined for a provider ID of another provider. */
export const parseProviderID = (providerID: string): ServerAddress | undefined => {
  const [, zone, serverID] = /^scw-applesilicon:\/\/([^/]+)\/([^/]+)$/.exec(providerID) ?? [];
  return zone === undefined || serverID === undefined ? undefined : { zone, serverID };
};
