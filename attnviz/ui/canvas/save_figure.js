// Draws one Plotly figure off screen and saves it as SVG or PNG. plotly.js comes from this server.
let loading = null

function loadPlotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly)
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = new URL("attnviz/plotly.min.js", rootOf(document)).href
    script.onload = () => resolve(window.Plotly)
    script.onerror = () => { loading = null; reject(new Error("plotly.min.js")) }
    document.head.append(script)
  })
  return loading
}

// Pages live one step below the app's root; its own script says where that is.
function rootOf(doc) {
  const own = doc.querySelector("script[src*='static/js/']")
  return own ? new URL(own.src.split("static/js/")[0]) : new URL("./", doc.baseURI)
}

async function save(figure, name, format, scale) {
  const Plotly = await loadPlotly()
  const { width, height } = figure.layout
  const url = await Plotly.toImage(figure, { format, width, height, scale })
  const link = document.createElement("a")
  link.href = url
  link.download = `${name}.${format}`
  link.click()
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".save-figure")
  const say = root.querySelector(".said")
  root.querySelectorAll("button").forEach((button) => {
    const kind = button.dataset.kind
    button.textContent = data.labels[kind]
    button.onclick = async () => {
      say.textContent = data.labels.working
      button.disabled = true
      try {
        const scale = kind === "png4" ? 4 : kind === "png2" ? 2 : 1
        const suffix = kind === "png4" ? "@4x" : kind === "png2" ? "@2x" : ""
        await save(JSON.parse(data.figure), data.name + suffix, kind === "svg" ? "svg" : "png", scale)
        say.textContent = data.labels.done
      } catch (problem) {
        say.textContent = `${data.labels.failed} ${problem.message}`
      } finally {
        button.disabled = false
      }
    }
  })
}
