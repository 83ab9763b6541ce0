"""Words that developers use for one thing, and the same words in four other languages.

Hand-written general vocabulary; nothing here comes from an evaluation suite. Reading text with it is `words`.
"""

from collections.abc import Iterator

from bead.text.terms import stem

# One line a class; the first word names it. Only words that nearly always mean the same to a developer.
_CLASSES = """
error failure exception fault broken breaks crash crashes crashed fail failing failed fails choke chokes bug wrong
test tests testing spec suite unittest pytest
run execute launch invoke rerun running ran
check verify confirm validate ensure validation
remove delete drop erase purge deletion removal
create generate scaffold
add append insert introduce
change modify edit alter adjust update tweak
fix repair correct resolve patch solve
rename renamed renaming
refactor restructure cleanup tidy reorganise reorganize
deploy deployment ship release rollout publish production prod promote
database db postgres postgresql
dependency dependencies package library module lib
config configuration settings setting options
directory folder dir
function method func helper
docs documentation readme docstring manual
image picture photo img pictures
color colour colors colours
duplicate twice double duplicates repeated repeat
timeout deadline hang hangs hung stuck
slow slowly sluggish latency performance lag
fast faster quick speed
server backend
client frontend browser ui interface
authenticate auth login signin credential credentials password authentication
permission access denied forbidden unauthorized unauthorised
secret token apikey
environment env
variable var
log logs logging logger
metric metrics dashboard dashboards graph graphs chart grafana
alert alerts notification notify alarm pager
schedule cron nightly scheduled
message msg
queue topic
cache cached caching
migrate migration migrations
schema column columns
table tables
query queries sql
commit commits committed
branch branches
review reviewer reviewers reviewed
merge merged merging
format formatter formatting prettier
lint linter linting eslint ruff
type types typing typed
translate translation translations translated locale locales i18n language
string text copy wording label
button icon symbol
page screen view
component components widget
style css styling
number count amount total sum
price cost fee
money currency
user customer member account
user-id uid
email mail
date day calendar
time hour clock timezone
today tomorrow yesterday
week weekly
month monthly
year yearly
retry retries attempt attempts
backup snapshot dump
restore recover recovery
rollback revert undo
search find lookup
index reindex
sort order
filter filters
list listing
download fetch
upload push
import imports imported
export exports exported
upgrade bump
version versions
install installed setup
build compile compiled bundle
container docker image-build dockerfile compose
kubernetes k8s kubectl cluster helm
endpoint route url api
webhook callback
event events
job worker task background
thread concurrency parallel race
memory ram oom
disk storage
file files
path paths
script scripts
mock stub fake mocks mocked
flaky intermittent sometimes flake
seed fixture fixtures
explain describe understand
summary summarize summarise recap overview
report reports
example sample
limit limits quota throttle throttled
large big huge
small tiny little
null none nil missing empty
invoice billing bill
payment pay charge charged
refund refunds
encrypt encryption encrypted
certificate cert tls ssl
network connection connect
host hostname
flag toggle switch
feature features
rule rules policy
incident outage oncall
owner responsible
license licence
write writing
read reading
save store persist
send deliver delivery
receive incoming
start begin
stop halt abort
open opens
close closed
show display render
hide hidden
convert transform
parse parser parsing
round rounding
divide multiply
negative minus
unit units
sensor device
legal compliance audit
vendor vendored vendoring
lock locked
"""

# Kept apart from `_CLASSES`: German, French, Spanish and Portuguese for common developer words. "english: words".
_FOREIGN = """
add: hinzufugen erganze erganzen fuge ajoute ajouter ajoutez anade anadir agrega agregar adiciona adicionar acrescenta
all: alle alles tous toutes todos todas tudo
answer: antwort antworten reponse respuesta resposta
automatic: automatisch automatique automatico
backup: sicherung sauvegarde respaldo
branch: zweig branche rama ramo
broken: kaputt defekt casse cassee roto rota quebrado quebrada
build: bauen baue gebaut construire construis compiler compilar construir construye constroi
button: knopf schaltflache bouton boton botao
calendar: kalender calendrier calendario
change: andern andere anderung geandert modifier modifie change
change: changer cambia cambiar cambio muda mudar altera alterar
charge: belastet abgebucht debite facture cobrado cobrar cobro cobranca
check: prufen prufe pruf uberprufe uberprufen verifie verifier verifica verificar comprueba comprobar revisa confere
color: farbe farben couleur couleurs color colores cor cores
column: spalte spalten colonne colonnes columna columnas coluna colunas
command: befehl befehle commande commandes comando comandos
commit: committe committen committer commitear comitar commita
company: firma entreprise empresa
container: behalter conteneur contenedor
create: erstellen erstelle anlegen lege erzeuge erzeugen creer cree crea crear criar cria
customer: kunde kunden kundin client clients cliente clientes
database: datenbank donnees bdd datos banco dados
date: datum tag jour fecha dia data
day: tage jours dias
delete: loschen losche geloscht entferne entfernen supprime supprimer efface
delete: borra borrar elimina eliminar apaga apagar remove remover
dependency: abhangigkeit abhangigkeiten dependance dependances dependencia dependencias
deploy: ausliefern ausrollen bereitstellen deployen deploye deployer
deploy: desplegar despliega despliegue implantar publicar publica
directory: ordner verzeichnis dossier repertoire carpeta directorio pasta
document: dokument dokumentation documentation documentacion documentacao
download: herunterladen telecharger telecharge descargar descarga baixar baixa
duplicate: doppelt zweimal double doublon duplicado doble dobro duas
empty: leere vide vacio vacia vazio vazia
encrypt: verschlusselt chiffrer cifrar cifrado
environment: umgebung environnement entorno ambiente
error: fehler fehlermeldung fehlgeschlagen erreur erreurs echoue echec
error: error errores falla fallo erro erros falha falhou
example: beispiel exemple ejemplo exemplo
expensive: teuer cher caro
explain: erklare erklaren erklar explique expliquer explica explicar
export: exportiere exportieren exporter exporta exportar
fast: schnell schneller rapide vite rapido
field: feld felder champ champs campo campos
file: datei dateien fichier fichiers archivo archivos fichero arquivo arquivos
filter: filtre filtrer filtro filtrar
fix: reparieren repariere behebe beheben korrigiere corrige corriger arregla arreglar corregir corrigir conserta
flaky: unzuverlassig instable inestable instavel
format: formatiere formatieren formate formater formatea formatear formata formatar
function: funktion funktionen fonction fonctions funcion funciones funcao funcoes
hour: stunde stunden uhr heure heures hora horas
image: bild bilder image images imagen imagenes imagem imagens foto
install: installiere installieren installer installe instala instalar
invoice: rechnung rechnungen facture factures factura facturas fatura faturas
language: sprache sprachen langue langues idioma idiomas
list: liste listen lister lista listar
log: protokoll protokolle journal journaux registro registros
login: anmelden anmeldung connexion connecter sesion entrar
meaning: bedeutet signifie significa
memory: speicher memoire memoria
merge: zusammenfuhren fusionner fusionne fusionar fusiona mesclar
message: nachricht nachrichten meldung mensaje mensajes mensagem mensagens
migration: migrationen migrations migraciones migracion migracao migracoes
money: geld betrag betrage argent montant montants dinero importe dinheiro valor
month: monat monate mois mes meses
name: namen nom nombre nome
network: netzwerk reseau red rede
new: neu neue neuen neues nouveau nouvelle nuevo nueva novo nova
notification: benachrichtigung notificacion notificacao
number: zahl nummer anzahl nombre numero numeros
open: offne offnen ouvre ouvrir abre abrir
order: bestellung bestellungen commande pedido pedidos encomenda
page: seite seiten page pages pagina paginas
password: passwort kennwort motdepasse contrasena senha
payment: zahlung zahlungen paiement paiements pago pagos pagamento pagamentos
permission: berechtigung berechtigungen rechte droit droits permiso permisos permissao permissoes
price: preis preise prix precio precios preco precos
production: produktion produktiv production produccion producao
push: pushe pushen pousser pousse subir sube empurra
query: abfrage abfragen requete requetes consulta consultas
question: frage fragen pregunta pergunta
record: datensatz datensatze enregistrement registro
refund: ruckerstattung erstattung remboursement reembolso
release: veroffentliche veroffentlichen livrer livraison lanzar lancar lancamento
rename: umbenennen benenne renommer renomme renombra renombrar renomeia renomear
report: bericht berichte rapport informe informes relatorio relatorios
request: anfrage anfragen demande peticion solicitud pedido
restart: neustart neustarten redemarrer reiniciar reinicia
review: begutachten relecture relire revision revisar revisao
run: ausfuhren fuhre laufen laufe lauf starte execute executer lance
run: lancer ejecuta ejecutar corre correr executa executar roda rodar
save: speichern speichere enregistrer enregistre guarda guardar salvar salva
schedule: zeitplan planen planifier horaire programar agenda agendar
search: suche suchen recherche rechercher chercher busca buscar busqueda pesquisa procura
send: senden sende schicke schicken envoyer envoie envia enviar
server: dienst serveur servidor
setting: einstellung einstellungen reglage reglages parametre ajuste ajustes configuracion configuracao
show: zeige zeigen anzeigen montre montrer affiche afficher muestra mostrar mostra exibe exibir
slow: langsam langsame lent lente lento lenta devagar
sort: sortiere sortieren trier trie ordena ordenar
start: starten demarrer demarre inicia iniciar arranca
stop: stoppe stoppen anhalten arreter arrete parar detener
string: zeichenkette texte textes textos chaine cadena
style: stil estilo
table: tabelle tabellen tableau tableaux tabla tablas tabela tabelas
test: testen teste tester testes pruebas prueba prova essais essai
time: zeit uhrzeit zeitzone temps tiempo tempo
today: heute aujourdhui hoy hoje
tomorrow: morgen demain manana amanha
translate: ubersetze ubersetzen ubersetzung traduire traduction traducir traduccion traduzir traducao
update: aktualisiere aktualisieren aktualisierung mettre actualiser actualiza actualizar atualiza atualizar
upload: hochladen lade televerser subir carregar
user: benutzer nutzer anwender utilisateur utilisateurs usuario usuarios utilizador
version: fassung versionen versions versiones versoes
wait: warte warten attendre attends espera esperar
week: woche wochen semaine semana semanas
write: schreibe schreiben schreib ecris ecrire escribe escribir escreve escrever
wrong: falsch falsche faux fausse mauvais incorrect mal equivocado incorrecto errado errada incorreto
year: jahr jahre annee annees ano anos
yesterday: gestern hier ayer ontem
account: konto compte cuenta conta
alert: warnung alarm alerte alarme alerta
api: schnittstelle interfaz
argument: parametro argumento parametre
available: verfugbar disponible disponivel
before: vorher zuvor antes avant
booking: buchung buchungen reservierung reserva reservas reservation reservations reservacion
card: karte karten carte tarjeta cartao
class: klasse klassen classe clase
cost: kosten couts cout coste costos custo
currency: wahrung devise moneda divisa moeda
cut: kurze kurzen couper corta cortar
decimal: nachkommastellen dezimalstellen decimale decimales decimais
delay: verzogerung retard retraso atraso
delivery: lieferung zustellung livraison entrega
design: entwurf gestaltung conception diseno desenho
enable: aktiviere aktivieren einschalten active activer activa activar ativa ativar
find: finde finden trouve trouver encuentra encontrar encontra
group: gruppe groupe grupo
help: hilf hilfe aide aider ayuda ayudar ajuda ajudar
hundred: hundert cent cien cem
import: importiere importieren importer importa importar
key: schlussel cle clave llave chave
line: zeile zeilen ligne lignes linea lineas linha linhas
load: laden charger charge carga carregar
member: mitglied mitglieder membre membres miembro miembros membro membros
missing: fehlt fehlen fehlende manque manquant manquante falta faltan faltando
move: verschiebe verschieben verschoben deplace deplacer mueve mover
old: alt alte alten ancien ancienne viejo vieja antiguo velho antiga
package: paket pakete paquet paquets paquete paquetes pacote pacotes
plan: vorhaben projet proyecto projeto
product: produkt produkte produit producto produto
queue: warteschlange file cola fila
read: lesen lies lire lis leer ler
reason: grund raison razon motivo
replace: ersetze ersetzen ersatz remplace remplacer reemplaza reemplazar substitui substituir
retry: wiederhole wiederholen erneut reessaie reessayer reintenta reintentar repete
role: rolle papel
round: runde runden arrondir arrondi redondea redondear arredonda
rule: regel regeln regle regles regla reglas regra regras
seller: handler marchand vendeur vendedor comerciante
size: grosse taille tamano tamanho
status: zustand etat estado situacao
timezone: zeitumstellung zeitzonen fuseau
twice: zweifach bis
type: typ typen tipo tipos
value: wert werte valeur valeurs valores
see: ansehen anschauen voir ver sehe sieht sehen siehe vedi
waiting: wartend warteliste attente pendiente pendente
word: wort worte mot mots palabra palavra
"""

# Function words of the four languages; English ones are `terms.STOP_WORDS`.
_FOREIGN_STOP = """
aber als am an auch auf aus bei bin bist bitte da dann das dass dein dem den der des die dir doch du ein eine einem
einen einer eines er es etwas fur hab habe haben hat ich ihr im in ist ja jetzt kann kannst kein keine konnen mal man
mehr mein meine mich mir mit mochte muss nach nicht noch nun nur ob oder sein sich sie sind so und uns unser unsere
vom von vor war warum was wenn wer werden wie wieder wir wird wo zu zum zur uber alors au aux avec car ce ces cette
comme comment dans de des dois donc du elle en est et etre fait il ils je la le les leur lui ma mais me mes moi mon ne
nos notre nous on ou par pas peux plus pour pourquoi qu quand que quel quelle qui sa sans se ses si son sont sur ta te
tes toi ton tu un une va vous y plait al algo como con cual cuando del desde donde el ella ellos en era eres es esa
ese eso esta este esto estoy fue ha hace hacer hay la las le lo los me mi mis muy nos nuestra nuestro otra para pero
por porque puede puedes que quien se ser si sin sobre su sus tambien te tengo tiene tu un una uno y ya yo ao aos as
ate com da das do dos e ela ele em essa esse eu foi isso isto ja mais mas meu minha na nao nas no nos nossa nosso num
numa o os ou pela pelo pode pra quando sao se sem ser sua tem temos tenho uma voce
""".split()

# Words that carry no subject in a request or an announcement.
_FILLER = """
actually again anything anyway around back bit come could day else even ever every everything far fine first get give
go going good great gonna here hey instead keep kind know last later like little look looks lot made make makes making
maybe mind much need needs next nice nothing ok okay one ones perhaps please possible put quick quickly quite rather
really right roughly same say says see seem seems set simple simply single some someone something sometime soon sort
still sure take tell than thank thanks thing things think two three try trying turn until use used using via want
wants way well whether while work works would yes yet
""".split()

# Words of every project: one of them alone is never the name of something.
_EVERYDAY = """
application argument binding call class code command data default deploy directory entry error example field file
folder issue item key layer line main method model module name network node number object option output package
parameter part patch path place plan port print process product program project property record region release
remove repo repository resource response result return root row rule sample scope server service source stage state
status step store stream string structure system target template text thing time tool trace tree update user value
whole
""".split()


def synonyms() -> dict[str, str]:
    """Stem to the stem that names its class; the first class that has a word keeps it."""
    found: dict[str, str] = {}
    for line in _CLASSES.strip().splitlines():
        words = [stem(word) for word in line.split()]
        for word in words:
            found.setdefault(word, words[0])
    return found


def foreign() -> dict[str, str]:
    """Word without accents, as it is written in another language, to the English word."""
    found: dict[str, str] = {}
    for english, words in _foreign_lines():
        for word in words:
            found.setdefault(word, english)
    return found


def foreign_stop_words() -> frozenset[str]:
    """Function words without accents."""
    return frozenset(_FOREIGN_STOP)


def filler() -> frozenset[str]:
    """Stems that every request has."""
    return frozenset(stem(word) for word in _FILLER)


def everyday() -> frozenset[str]:
    """Stems of words that every project has."""
    return frozenset(stem(word) for word in _EVERYDAY)


def _foreign_lines() -> Iterator[tuple[str, list[str]]]:
    for line in _FOREIGN.strip().splitlines():
        english, words = line.split(":")
        yield english, words.split()
