// Evaluates flags and tracks an event with OpenFeature's own client: node openfeature_client.cjs URL TOKEN
const { OpenFeature } = require("@openfeature/server-sdk");
const { OFREPProvider } = require("@openfeature/ofrep-provider");

const [baseUrl, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };

class Provider extends OFREPProvider {
  async track(event, context, details) {
    const body = JSON.stringify({ event, context, details });
    return (await fetch(`${baseUrl}/v1/track`, { method: "POST", headers, body })).json();
  }
}

(async () => {
  const provider = new Provider({ baseUrl, headers: [["Authorization", `Bearer ${token}`]] });
  await OpenFeature.setProviderAndWait(provider);
  const client = OpenFeature.getClient();
  const ann = { targetingKey: "js-ann" };
  const found = {
    layout: await client.getStringDetails("layout", "none", ann),
    again: await client.getStringValue("layout", "none", ann),
    banner: await client.getBooleanDetails("banner", false, ann),
    price: await client.getNumberDetails("price", 0, ann),
    nobody: await client.getStringDetails("layout", "none", {}),
    nothing: await client.getStringDetails("nothing", "none", ann),
    tracked: await provider.track("bought", ann, { value: 1 }),
  };
  console.log(JSON.stringify(found));
})();
